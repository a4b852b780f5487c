"""Tables of English words that several modules look at."""

from swaymeter.tasks.scoring.wording.word import word_set

FUNCTION_WORDS = word_set(
    "a about after all also am an and any are as at be been before being but by can could did do does for from had has "
    "have he her him his how i if in into is it its may me more most my no nor not of off on once only or our out over "
    "own same she should so some such than that the their them then there these they this those to too under until up "
    "us was we were what when where which while who whom whose why will with would you your"
)
TITLES = word_set(
    "frau herr herrn dr prof "
    "sir dame mr mrs ms miss doctor professor lord lady king queen president senator captain saint"
)
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
PERSONS = word_set(
    "person man woman actor actress author writer novelist poet playwright screenwriter filmmaker director producer "
    "composer singer musician rapper artist painter sculptor architect scientist physicist chemist mathematician "
    "philosopher economist politician president minister senator governor king queen emperor general explorer "
    "astronaut inventor engineer player footballer athlete coach boxer journalist comedian conductor animator teacher "
    "designer founder leader mayor pilot officer judge lawyer doctor professor chef dancer wife husband son daughter"
)
AUXILIARIES = word_set("is was are were be am do does did has have had can could will would should may might must")
FUNCTION_WORDS_ELSEWHERE = word_set(
    "der die das den dem des ein eine einen in im am an auf zu mit von und fur ist sind war hat haben wird kann "
    "darf es sie er man mi mu ли gun gunu gunleri "
    "la el los las le les un una une est elle il on se esta son hay del de a en e "
    "wer wie wo wann welche welcher welches welchem welchen heisst hiess wurde wurden bei seit als"
)
"""Of German, French, Spanish, Turkish and Russian."""
