"""The layout of the screens in Textual's style language."""

CSS = """
MainScreen { layout: vertical; background: #0d1016; color: #d5dae2; }
#head { height: 1; background: #171c25; }
#middle { height: 1fr; }
#map { width: 1fr; height: 1fr; background: #0d1016; }
#side { width: 46; height: 1fr; background: #12161d; padding: 0 1; scrollbar-size-vertical: 1; }
.-compact #side { width: 40; }
#panel { height: auto; }
#foot { height: auto; background: #12161d; text-wrap: nowrap; text-overflow: ellipsis; }
TablePage, TextPage { align: center middle; background: #0d1016 60%; }
.page { width: 96%; height: auto; max-height: 92%; max-width: 150; background: #171c25;
        border: round #5a6475; padding: 0 1; }
.page DataTable { height: auto; max-height: 46vh; background: #171c25; }
.page VerticalScroll { height: auto; max-height: 70vh; }
.page .title { height: auto; margin-bottom: 1; }
.page #detail { height: auto; min-height: 2; max-height: 4; margin-top: 1; color: #8fdcc0; }
.page .foot { height: 1; }
.prompt { align: left bottom; background: #0d1016 30%; }
.prompt .line { height: auto; background: #171c25; border-top: solid #5a6475; }
App.-ascii .page { border: ascii #ffffff; }
App.-ascii .prompt .line { border-top: ascii #ffffff; }
"""
