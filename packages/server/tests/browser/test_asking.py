"""Asking the sample in a browser: steps, text, citations, the keyboard, files to keep."""

from chromium import Page
from selenium.webdriver.common.keys import Keys
from serving import Serving

QUESTION = "What is a bias audit?"
QUOTE = "A bias audit is an evaluation of an AEDT, made impartially by an independent auditor."


def test_it_opens_with_the_documents_and_questions_on_them_and_says_that_it_gives_no_advice(
    page: Page,
) -> None:
    page.find("[data-testid=examples] button", "auditor")
    assert [one.text for one in page.all(".titles button")] == [
        "history.txt",
        "law.txt",
        "rule.txt",
    ]
    assert page.find(".welcome .drop")
    assert page.script("return document.activeElement.id") == "question"
    assert "informs and gives no legal advice" in page.find("#terms").text
    page.click("[data-testid=examples] button", "auditor")
    page.find("[data-testid=chip]")
    assert not page.all(".welcome")
    assert page.find("#composer #question")


def test_an_answer_has_a_verdict_and_a_chip_opens_the_source_at_the_cited_words(page: Page) -> None:
    turn = page.ask(QUESTION)
    assert QUESTION in turn.text
    assert QUOTE in page.find("[data-testid=answer]").text
    verdict = page.find("[data-testid=verdict]")
    words = {"unlikely": "does not", "maybe": "may answer", "likely": "probably", "surely": "very"}
    assert words[verdict.get_attribute("data-band") or ""] in verdict.text
    assert "% likely" in verdict.text
    both = "document.querySelectorAll('[data-testid=verdict], [data-testid=answer]')"
    order = page.script(f"return [...{both}].map((one) => one.dataset.testid)")
    assert order == ["verdict", "answer"]
    head = "document.querySelector('[data-testid=verdict] .head')"
    assert page.script(f"return getComputedStyle({head}).position") == "sticky"
    assert "Every quote stands word for word in its source." in verdict.text
    page.click("[data-testid=verdict] summary")
    assert page.find("[data-testid=verdict] li", "found word for word")
    assert QUOTE in page.find("[data-testid=sources] blockquote").text
    assert "law.txt" in page.find("[data-testid=sources] li").text
    page.click("[data-testid=chip]")
    marked = [one.text for one in page.until(lambda: page.all("#side mark.quote"))]
    assert "".join(marked).startswith(QUOTE)
    assert "§ 20-870" in page.find("#side-title").text
    mark = page.find("#side mark.quote").rect
    assert 0 <= mark["y"] < 800  # brought into view
    page.press(Keys.ESCAPE)
    page.gone("#side")
    focused = page.script("return document.activeElement.dataset.testid")
    assert focused == "chip"


def test_an_answer_leads_on_and_its_question_can_be_edited_and_asked_again(page: Page) -> None:
    page.ask("What is the civil penalty for a first violation?")
    page.click("[data-testid=next] button")
    page.find("[data-testid=verdict]", count=2)
    page.find("[data-testid=turn]:last-child [data-testid=next] button")
    assert len(page.all("[data-testid=next]")) == 1  # of the last answer alone
    page.click("[data-testid=turn] .asked-for button")
    field = page.find(".editing textarea")
    assert page.script("return document.activeElement === arguments[0]", field)
    page.press(Keys.ESCAPE)
    page.gone(".editing")
    page.click("[data-testid=turn] .asked-for button")
    page.type(".editing textarea", Keys.CONTROL + "a" + Keys.CONTROL + QUESTION + Keys.ENTER)
    page.find("[data-testid=verdict]", count=3)
    assert QUOTE in page.all("[data-testid=turn]")[-1].text


def test_the_interface_is_in_the_language_that_is_chosen(page: Page) -> None:
    page.click("#settings-open")
    page.find("dialog[open] fieldset")
    page.script(
        "const select = document.querySelector('#language'); select.value = 'de';"
        "select.dispatchEvent(new Event('change'))"
    )
    page.find(".welcome h2", "Was sagen Ihre Dokumente?")
    assert page.script("return document.documentElement.lang") == "de"
    page.ask(QUESTION)
    assert "Jedes Zitat steht wörtlich" in page.find("[data-testid=verdict]").text
    assert page.violations() == []


def test_steps_are_shown_as_they_run(page: Page) -> None:
    page.note("[data-testid=steps]")
    page.ask("How is an impact ratio calculated?")
    counts = [len(one.splitlines()) for one in page.noted()]
    assert len(counts) >= 3
    assert counts == sorted(counts)


def test_the_keyboard_alone_leads_from_the_page_to_an_opened_source(page: Page) -> None:
    active = "return document.activeElement"
    assert page.script(f"{active}.id") == "question"
    page.press(QUESTION + Keys.ENTER)
    page.find("[data-testid=verdict]")
    for _ in range(60):
        page.press(Keys.SHIFT + Keys.TAB + Keys.SHIFT)
        if page.script(f"{active}.dataset.testid") == "chip":
            break
    assert page.script(f"{active}.dataset.testid") == "chip"
    outline = page.script(
        "const style = getComputedStyle(document.activeElement);"
        "return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0"
    )
    assert outline, "the focus is not seen"
    page.press(Keys.ENTER)
    page.find("#side mark.quote")
    assert page.script(f"{active}.id") == "side-title"


def test_a_conversation_is_listed_goes_on_and_is_renamed_and_deleted(page: Page) -> None:
    page.ask("What is an independent auditor?")
    page.ask("And who may not be one?")
    thread = page.thread
    page.open(f"thread={thread}")
    page.find("[data-testid=verdict]", count=2)
    row = f"[data-testid=threads] li[data-id='{thread}']"
    assert "What is an independent auditor?" in page.find(row).text
    page.click(f"{row} summary")
    page.click(f"{row} button", "Rename")
    page.type(f"{row} input", Keys.CONTROL + "a" + Keys.CONTROL + "<b>Auditors</b>" + Keys.ENTER)
    page.find(f"{row} a", "<b>Auditors</b>")
    page.click(f"{row} summary")
    page.click(f"{row} button", "Delete")
    page.click("dialog[open] button", "Delete")
    page.gone(row)
    page.find(".welcome")


def test_an_opinion_reaches_the_store(page: Page, server: Serving) -> None:
    page.ask(QUESTION)
    page.click("[data-testid=thumb-down]")
    page.type(".opinion-more textarea", "Too short.")
    page.click(".opinion-more button[type=submit]")
    page.find(".opinion-more", "Thank you")
    from lexloop.apps.feedback import FILE_NAME, FeedbackStore

    (opinion,) = FeedbackStore(server.data / FILE_NAME).all()
    assert opinion.question == QUESTION
    assert opinion.comment == "Too short."
