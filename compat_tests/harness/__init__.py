"""What every client suite shares: brokers, child processes, the records, the checker and the result lines.

Standard library only. Nothing here knows which client is under test.
"""
