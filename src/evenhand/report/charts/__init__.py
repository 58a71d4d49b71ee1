"""Charts: figures in, ``Chart`` values out, and the drawing of them.

Every function returns a ``Chart`` (``report.page.blocks``) or None where there is nothing to draw. The table of a chart
says all that the chart shows, with ``Shown`` cells whose paths lead into the file that the figures were saved in:
``summary.json`` of an audit, ``comparison.json``, ``effects.json``, ``spec.json``, ``validation.json``.

``prefix`` goes before the chart's name, and tells the charts of several runs apart: ``"run-2-"``.

Of an audit (``block`` is the place of the grader's block in the summary):

* ``rates_chart(summary, block)``: even-handedness, refusal and hedging, of pairs and of each side
* ``graders_chart(summary)``: the same of every grader side by side; None with fewer than two blocks
* ``cells_chart(summary, block)``: the four cells
* ``direction_chart(summary, block)``: which side got more
* ``position_chart(summary, block)``: what the order of the two did
* ``states_chart(summary, block)``: judgments by state
* ``responses_chart(summary)``: responses by what became of them
* ``threshold_chart(summary, block)``: rates over thresholds
* ``groups_chart(summary, block, by, measure)``: a forest of topics, templates or kinds (``by`` is ``"topic"``,
  ``"template"``, ``"kind"`` or ``"left out"``)
* ``length_chart(summary, block)``, ``blind_chart(summary, block)``: sensitivity to length, to group labels

Of a comparison: ``compared_chart(comparison, block, measure)``, ``changes_chart(comparison, block)``.

Of ratings and fits: ``effects_chart``, ``leak_chart``, ``redundancy_chart``, ``weights_chart``, ``penalty_chart``,
``held_out_chart``. Of a validity card: ``agreement_chart``, ``reliability_chart``, ``card_threshold_chart``,
``gold_labels_chart``, ``gold_kinds_chart``, ``controls_chart``, ``raters_chart``.

``svg(chart, theme="page")`` is for the page: no title (the figure's caption has it), and colours that are the page's
CSS variables ``--ink``, ``--muted``, ``--grid``, ``--paper``, ``--chart-1`` to ``--chart-6``. ``svg(chart,
theme="file")`` and ``png(chart)`` are for files: title and note inside, colours of their own. An SVG has its natural
``width`` and ``height`` in pixels (at most ``WIDTH`` wide in a page) beside its ``viewBox``.
"""

from evenhand.report.charts.audit_charts import (
    cells_chart,
    direction_chart,
    graders_chart,
    position_chart,
    rates_chart,
)
from evenhand.report.charts.card_agreement import agreement_chart, controls_chart, raters_chart
from evenhand.report.charts.card_probabilities import (
    card_threshold_chart,
    gold_kinds_chart,
    gold_labels_chart,
    reliability_chart,
)
from evenhand.report.charts.compare_charts import changes_chart, compared_chart
from evenhand.report.charts.count_charts import responses_chart, states_chart
from evenhand.report.charts.drawing import png, svg
from evenhand.report.charts.fit_charts import held_out_chart, penalty_chart, weights_chart
from evenhand.report.charts.rating_charts import effects_chart, leak_chart, redundancy_chart
from evenhand.report.charts.sensitivity_charts import blind_chart, groups_chart, length_chart, threshold_chart
from evenhand.report.charts.theme import PAGE_VARIABLES, WIDTH

__all__ = [
    "PAGE_VARIABLES",
    "WIDTH",
    "agreement_chart",
    "blind_chart",
    "card_threshold_chart",
    "cells_chart",
    "changes_chart",
    "compared_chart",
    "controls_chart",
    "direction_chart",
    "effects_chart",
    "gold_kinds_chart",
    "gold_labels_chart",
    "graders_chart",
    "groups_chart",
    "held_out_chart",
    "leak_chart",
    "length_chart",
    "penalty_chart",
    "png",
    "position_chart",
    "raters_chart",
    "rates_chart",
    "redundancy_chart",
    "reliability_chart",
    "responses_chart",
    "states_chart",
    "svg",
    "threshold_chart",
    "weights_chart",
]
