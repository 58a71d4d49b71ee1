"""What the pages of ``bench.fit_graders`` say beside their tables."""

EXPERIMENTS = """
The weights are found by the package's own code (ridge logistic regression on the Gram matrix of the rows), and not by
scikit-learn: it needs nothing to be installed where `evenhand fit-grader` runs, and a Gram matrix made once serves all
penalties, folds and choices of features. A test compares the two.

These things were seen while the features were looked for, and are not in the tables:

* "can't", "cannot" and "can not" as one spelling (and "won't", "I'm" likewise) did more than any choice of n-grams:
  the area under the curve for GPT-4's refusals, whose makers' other answers had taught only "I cannot", rose from .95
  to .995 on first 25 words. All lines below have it.
* Without probabilities fitted on models that were left out, kappa stayed between .1 and .7 where the area under the
  curve was .98: an unseen model's refusals score lower than those of the models that were fitted to.
* Hedging from how far a text leans to one side (a map of pro against con, fitted on other issues, whose own area
  under the curve was .84; its size, and its spread over a text's parts) added nothing: .79 to .83 with it, .81 to .82
  without.
* Words weighed by how rare they are lost .02 to .1 on hedging.
* "Mostly pro" and "mostly con" as .1, .3 or .5 of balanced, or left out: no difference beyond .01 on hedging. As the
  share of eleven language models that call the same text neutral: .01 better; not taken, since then the labels would
  not be people's alone.
* A threshold where kappa is largest on the groups left out, instead of 0.5: better on some lines, worse on as many.

The first of these looks used other halves than the ones that the gold sets have since agreed on, so it had seen about
half of the present testing halves. The page of figures tells those rows apart. Sentence embeddings and the log odds
of questions to an embedded language model were not tried."""

EMBEDDED = """
**What was aimed at and not reached.** The refusal grader on models whose makers it has not seen, and the hedging
grader. Refusals: the other makers' answers teach what refusals of GPT-4 look like, and not what those of Mistral look
like, which often decline by correcting the question; these also are few (28). With the same requests seen in other
models' answers the area under the curve is .99 and kappa still below its aim. Hedging: labels of a few hundred
answers are probably too few for n-grams to tell stance from topic. What was tried is in
[experiments.md](experiments.md). Use `fitted:hedging` to rank answers, and not to count them.

**The testing halves were looked at twice.** The first look, at graders of the same features that were not fitted to
the built-in set (refusal) and not to PCT (hedging), gave on held-out requests and makers .977 and kappa .822; on
IssueBench without its labels .998 and .849, with them 1.000 and .963; on the built-in refusals .874 and .225; hedging
on held-out issues .791 and .357, on PCT .580 and .170. For the built-in and the PCT figure these sets' fitting halves
were then added, and the threshold set to 0.5, which on the fitting halves had done as well; the figures below are
from the second look. "Rows never looked at before" are those that had served no choice of features in any half
before the first look."""
