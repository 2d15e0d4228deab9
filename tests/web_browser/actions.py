"""What a user does on the page."""

from pathlib import Path


def read(page, control, recovered, ending="csv"):
    """Choose both tables, by path or by content, and read them; return when the page shows the outcome."""
    for table, content in (("control", control), ("recovered", recovered)):
        file = content if isinstance(content, Path) else _file(f"{table}.{ending}", content)
        page.set_input_files(f"input[name={table}]", file)
    press_read(page)


def press_read(page):
    page.click("text=Read the tables")
    page.wait_for_selector("#understood:not([hidden]), .problems li")


def set_option(page, name, value):
    """Choose an option of how the tables are read."""
    if not page.locator("#options").evaluate("options => options.open"):
        page.click("#options > summary")
    page.select_option(f"select[name={name}]", value)


def choose_third(page, kind, content):
    """Choose a background or known foreign samples."""
    page.select_option("select[name=third]", kind)
    file = content if isinstance(content, Path) else _file(f"{kind}.csv", content)
    page.set_input_files("input[name=third-file]", file)


def _file(name, content):
    table = content if isinstance(content, bytes) else content.to_csv(index_label="id").encode()
    return {"name": name, "mimeType": "", "buffer": table}


def press_judge(page):
    page.click("#judge")
    page.wait_for_selector("#conclusion:not([hidden])")
    page.wait_for_selector("#plane .dot, #overview .line", state="attached")


def judge_tables(page, control, recovered, **options):
    read(page, control, recovered, **options)
    press_judge(page)


def slide(page, share):
    """Move the slider; return when the conclusions at the new sensitivity are shown."""
    page.locator("#sensitivity").fill(str(share))
    page.wait_for_selector(f"a[data-kind=csv][href$='sensitivity={share}']")


def show_reasons(page, fragment=None):
    """Ask for the reasons of a fragment, by default of the first one listed; return when they are shown."""
    button = page.locator("#conclusions tbody button").first
    if fragment is not None:
        button = page.get_by_label(f"{fragment}: show the reasons", exact=True)
    name = button.inner_text()
    button.click()
    page.locator("#reasons h3").get_by_text(f"{name}: ").wait_for()


def select_axis(page, axis, name):
    """Choose a variable of the figure; return when it is drawn."""
    with page.expect_response("**/points?**"):
        page.select_option(f"#{axis}", name)
    page.wait_for_function("name => document.getElementById('plane').textContent.includes(name)", arg=name)


def column(page, number):
    """Texts of a column of the table of conclusions, by fragment."""
    cells = page.locator("#conclusions tbody tr").evaluate_all(
        "(rows, j) => rows.map(row => [row.querySelector('button').innerText, row.cells[j].innerText])", number
    )
    return dict(cells)


def shown(page):
    """The conclusions on the page, by fragment."""
    return {fragment: text.removesuffix(" (evidence disagrees)") for fragment, text in column(page, 1).items()}


def is_too_wide(page):
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def misplaced_texts(page):
    """Texts of the figure that do not fit into it, or overlap; names of fragments may overlap."""
    return page.evaluate(
        """() => { const box = document.getElementById('plane').getBoundingClientRect();
        const nodes = [...document.querySelectorAll('#plane text:not(.label)')];
        const texts = nodes.map(t => ({ t, at: t.getBoundingClientRect() }));
        const out = (a) => a.left < box.left || a.right > box.right || a.bottom > box.bottom || a.top < box.top;
        const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        return texts.filter(({ at }, i) => out(at) || texts.some((u, j) => j < i && !apart(at, u.at)))
        .map(({ t }) => t.textContent); }"""
    )
