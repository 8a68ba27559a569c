"""Does an answer do harm, and is it a good one?"""
