"""Marks that lead somewhere: links of a drawn panel, taken out of the picture that a page shows."""

from matplotlib.transforms import Bbox

from swaymeter.reports.figures import rendering
from swaymeter.reports.style import blank, drawing, link


def test_a_page_has_the_links_of_a_picture_beside_it() -> None:
    addresses = ["answers.html#model=m&open=1", "queries.html#q-2"]
    with drawing():
        canvas, ((axes,),) = blank(1, 1, 2)
        axes.plot([0, 1], [0, 1], "o")
        link(axes, [0, 1], [0, 1], addresses)
        svg = rendering._saved(canvas, "svg", Bbox([[0, 0], [7.2, 2]]), 120).decode()
    shown, links = rendering._without_links(rendering._themed(svg))
    assert "<a " not in shown
    assert links is not None
    assert [address for _, _, address in links.places] == addresses
    (x0, x1), (y0, y1) = ([float(place[at]) for place in links.places] for at in (0, 1))
    assert x0 < x1 <= 7.2 * 72
    assert 0 <= y1 < y0


def test_many_marks_lead_nowhere() -> None:
    with drawing():
        _, ((axes,),) = blank(1, 1, 2)
        link(axes, range(700), range(700), ["queries.html"] * 700)
    assert not axes.collections
