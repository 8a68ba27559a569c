"""Is an answer borne out by the material it rests on, and is it to the point?"""
