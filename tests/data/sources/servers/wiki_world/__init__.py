"""An invented Wikidata and Wikipedia with page views and similar items, on an HTTP server.

    invented = world()
    with serving_world(invented) as (addresses, requests):
        ...                                   # addresses["wikipedia"] is the address of the wiki's API
    EXPECTED[("Q501", "P106", "Q101")]        # the expected question of a fact
    WARS["Tidewater levy"]                    # the expected disputes of a page

    # each response waits until the event is set
    serving_world(invented, after=lambda request, response: replace(response, hold=event))
    # from now on, the value of P106 is Q103 in place of Q101
    invented.edit("Q501", "/* wbsetclaimvalue:1| */ [[Property:P106]]: [[Q103]]", values={"P106": "Q103"})

The world is the same in every process.
"""
