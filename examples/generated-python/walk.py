"""Calls the API by the client that openapi-python-client made: publish, repeat, list, and be refused."""

import os
import uuid

from fantail import AuthenticatedClient, Client
from fantail.api.messages import publish
from fantail.api.topics import create_topic, list_topics
from fantail.models import MessageAttributes, MessageBatchInput, MessageInput, TopicInput
from fantail.types import UNSET

url = os.environ.get("FANTAIL_URL", "http://127.0.0.1:4100")
token = os.environ.get("FANTAIL_API_KEY")
client = AuthenticatedClient(url, token=token) if token else Client(url)


def send(body, topic="walk-python-0", key=UNSET):
    return publish.sync_detailed(topic, client=client, body=body, idempotency_key=key)


for n in range(3):
    create_topic.sync(f"walk-python-{n}", client=client, body=TopicInput(display_name="A walk"))

attributes = MessageAttributes.from_dict({"color": "red", "size": 5})
order = MessageInput(message={"order": 7}, subject="New order", attributes=attributes)
first = send(order).parsed
batch = send(MessageBatchInput(messages=[MessageInput(message="a"), MessageInput(message="b")])).parsed
assert first.message_id
print(f"published 1 message, then {len(batch.results)} at once")

key = str(uuid.uuid4())
once, again = send(order, key=key), send(order, key=key)
assert once.parsed.message_id == again.parsed.message_id
assert again.headers["Idempotent-Replayed"] == "true"
print("the same key gave the same id")

names, pages, cursor = [], 0, UNSET
while cursor is not None:
    page = list_topics.sync(client=client, prefix="walk-python-", limit=2, cursor=cursor)
    names += [topic.name for topic in page.topics]
    pages += 1
    cursor = page.next_cursor
print(f"listed {len(names)} topics on {pages} pages")

lost = send(order, topic="walk-python-lost").parsed.error
other = send(MessageInput(message="other"), key=key).parsed.error
empty = send(MessageInput(message="")).parsed.error
print(f"refused: {lost.code!s}, {other.code!s}, {empty.code!s} at {empty.details[0].path}")
