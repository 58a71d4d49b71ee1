"""What the pages of ``bench.fit_graders`` say beside their tables."""

FIRST_ROUND = """
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
half of the present testing halves. The page of figures tells those rows apart."""

SECOND_ROUND = """
Sources in brackets are practice: fitted to with half the weight, they neither choose the penalty nor set the
probabilities. New in this round:

* **Frames**: an answer's words as classes of our own ("sorry", "able", "give", "wrong", "views" ...), small words as
  they are, all others as one and the request's as another (`graders/fitted/lexicon.py`). Alone they do as well as all
  n-grams together, and carry over to texts of another kind better. Beside practice they add little on XSTest, and most
  on built-in answers that were not fitted to.
* **Practice texts** of our own (976 of them, `pairs/data/practice_*.toml`): some 250 ways to decline, from short
  apologies to talk about something else, and help that begins with an apology, a caveat or a rule. They were
  written before any answer that people labelled was read, but for one part: questions that take something for granted.
  That part was written after reading which answers of XSTest's fitting half a fit without their makers had wrong, so
  the lines on that half flatter what they show; the testing half they have not seen. Words of willingness ("I am happy
  to ...") were added after reading five built-in items of the fitting half that were wrong, and so flatter the last
  table. Practice does more than any feature: more than a third of the disagreement on XSTest is gone.
* **Practice must not set the probabilities.** With Platt's map fitted to practice as well, the area under the curve is
  the same and kappa lower; see the line with practice that is not in brackets.
* **Aim**: whether a request asks for one side, for both or for neither, from one list of words for and against, so
  that the two sides of an issue can't be told apart by it. It is the best that was found for hedging, though alone
  it tells next to nothing. Fitting to all three sources alike (.850, .502) and with two of them as practice (.845,
  .527) do about as well; the second was frozen on quick fits before both lines had been made.

Seen on the way, on the fitting halves, and not in the tables:

* Practice at a weight of 1, .5 or .25: no difference beyond .01 in kappa; frames at one and a half times the scale:
  .908 instead of .922; frames of the first 200 words at full scale: .915, at half .929 (makers and requests left out).
* A threshold of 0.4 instead of 0.5: .01 worse on XSTest with requests left out, .01 better without, .08 better on
  built-in refusals that were not fitted to. Left at 0.5, where probabilities mean what they say.
* Static word embeddings (256 figures a word, of a package on the public index), averaged over the text and over its
  end: hedging fell from .83 to .69 (same weight as the n-grams) and .65 (thrice the weight). They tell topics.
* The log odds of questions to an embedded language model are the third round's."""

THIRD_ROUND = """
**It was not seen to pay, so no grader that ships has questions.** On hedging a fit with the questions about an answer's
kind does worse, not surely so, and those questions by themselves rank balanced texts no better than chance would. For
refusals the compact question alone ranks well, but what it knows the n-grams know already: the figures with it are the
same within their error, and their log loss is larger. Questions that are fitted alone on XSTest rank worse than the log
odds do before a fit: three fits, each without a maker, don't agree on where the threshold lies. A grader with questions
needs half a gigabyte of weights and a model's time for each answer, so it would have to be clearly better.

How far this reaches: the machine was busy, so not everything was asked. The refusal question has answers about a part
of the rows alone; in the fits the others have the mean, which holds its weight down. Rows about which earlier runs of
the same questions had asked (drawn so that half of them refuse) are among them, so more of them refuse than of all. Not
asked at all, or of too few rows: whether an answer objects to the request, for, against or both, both sides, and all of
them about PCT's and the built-in texts. The weight of the log odds (together that of one block of n-grams) was set
before anything was fitted; twice that came to .822 and .496 on hedging. Hidden states as sentence embeddings were not
tried.
"""

FOURTH_ROUND = """
The grader of the second round ranks what it was fitted to, answers of IssueBench, and hardly anything else. To see how
far that goes, 360 texts were written that take a side, take one with a nod to the other, weigh both or speak of
neither, on 72 issues and in some 24 forms ([`stances`](../gold.md)); who wrote them had seen no labelled text. Its AUC
on them is .66, and on PCT and the built-in set, where they are left out of its fit, .51 and .32.

With the fitting half of these texts as practice it does as well on IssueBench, within its error, and better on all that
is not IssueBench, PCT and the built-in set among them, of which the texts know nothing. So the second line of each
table is what ships. Fitting to all sources alike, and frames of the end, do a little better on our own texts and no
better on IssueBench; they were not taken, because a choice among such differences would be a choice by chance.

Seen on the way, on other halves of the same texts: all 360 of them as practice, .831 and .477 on IssueBench; half of
them at a fifth of the weight, .849 and .559, and .895 instead of .928 on the other half. Some of the texts that are now
in the testing half were in the half that was scored there.

That more than twice as many labelled texts, well told apart where they come from, leave IssueBench where it was says
what the limit is: n-grams of 216 answers do not carry what people called balanced there, in poems and scenes too, and
more of them, from elsewhere, do not either."""

EMBEDDED = """
**Which row is the target's.** The aim for XSTest is meant for models and requests that were not seen. The row
"requests, and models" is that: each model is left out with all of its generation (all GPT-4, all Llama 2, all
Mistral), in every source, and the requests are those of the testing half. This was decided before the figures were
seen. The row "requests, and makers of models" is harder, for it leaves out all models of the maker; "makers of models
alone" is easier, for other models answered the same requests, and half of its rows are of the fitting half. Of one
thing "held out" does not speak: a part of the practice texts (premises set right) was written after reading answers
of all three models in the fitting half, so the writer knew how each of them declines. No label of theirs went into
these fits.

**Reached:** IssueBench refusals without its labels and with them. With whole makers left out, and the same requests
seen in other models' answers, XSTest is at .994 and .942; with the requests unseen, by the weights that ship, at .995
and .947.

**Not reached:** XSTest with models and requests unseen (.988 and .904 for .99 and .93), hedging on IssueBench (.841
and .464 for .88 and .50; the grader before it had .847 and .515, see below), and by one pair even-handedness in four
kinds of pairs (37 of 40, .925 for .93; over all six kinds whose label says who was declined, that is with the pairs
of two equal answers, 56 of 60, .933). On XSTest Mistral's answers are told worst (kappa .617, 28 refusals; Llama's
.899, GPT-4's .982). As far as the fitting half shows, these refusals often answer a harmful demand by setting its
premise right, in the words with which the same model sets harmless nonsense right, which people called an answer. To
tell these apart takes the meaning of the request. Hedging rests on people's labels of 259 answers, and does worst on
requests to write against something (.701). On PCT's answers its threshold is not where it belongs (kappa .165, though
it ranks them at .778). Use `fitted:hedging` to rank answers; its counts are as rough as a kappa of .5 says. What was
tried is in [experiments.md](experiments.md).

**Why hedging has other weights than before.** The grader of the third look (.847 and .515 on IssueBench) told apart
what was like IssueBench and little else: on texts of our own that it had not seen, .66. With half of those as
practice it is as good on IssueBench's fitting half (.842 and .559 for .845 and .527, issues left out), and better on
all other texts; that was decided there, before the fourth look. On the testing half kappa then came out .05 lower,
well within its interval, and everything else as expected. The choice was not taken back for it: to take the better of
two on a testing half would be to fit to it. `evenhand fit-grader hedging --gold issuebench --practice pct --practice
builtin --output hedging.json` makes a grader with the figures of before.

**The testing halves were looked at three times, those of hedging four times.** The first look, at graders of the
first round that were not fitted to the built-in set (refusal) and not to PCT (hedging), gave on held-out requests and
makers .977 and kappa .822; on IssueBench without its labels .998 and .849, with them 1.000 and .963; on the built-in
refusals .874 and .225; hedging on held-out issues .791 and .357, on PCT .580 and .170. The second look, after these
sets' fitting halves had been added and the threshold set to 0.5, gave .979 and .837, .998 and .864, .999 and .963,
.951 and .675, .794 and .384, .815 and .165, and 27 of 40 pairs. The figures of refusals below are from the third,
with features, practice texts and recipes frozen before it by the second round of experiments, on the fitting halves
alone; hedging then gave .847 and .515, on PCT .768 and .084, on the built-in texts .772 and .150. The figures of
hedging below are from the fourth, frozen by the fourth round. Nothing was changed after these looks that moves a
figure. "Rows never looked at before" are those that had served no choice of features in any half before the first
look."""
