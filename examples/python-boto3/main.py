"""Publishes to a topic of Fantail and receives from a queue, with the AWS SDK for Python."""

import json
import os

import boto3

endpoint = os.environ.get("FANTAIL_URL", "http://127.0.0.1:4100")
# Where keys are asked for, use an access key of `fantail keys create`. Without them any text is accepted.
settings = {
    "endpoint_url": endpoint,
    "region_name": "us-east-1",
    "aws_access_key_id": os.environ.get("AWS_ACCESS_KEY_ID", "test"),
    "aws_secret_access_key": os.environ.get("AWS_SECRET_ACCESS_KEY", "test"),
}
sns = boto3.client("sns", **settings)
sqs = boto3.client("sqs", **settings)

topic = sns.create_topic(Name="orders")["TopicArn"]
queue = sqs.create_queue(QueueName="orders-python")["QueueUrl"]
arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
sns.subscribe(
    TopicArn=topic,
    Protocol="sqs",
    Endpoint=arn,
    Attributes={
        "RawMessageDelivery": "true",
        "FilterPolicy": json.dumps({"event": ["order.created"]}),
    },
)

event = {"event": {"DataType": "String", "StringValue": "order.created"}}
sns.publish(TopicArn=topic, Message=json.dumps({"order": 7}), MessageAttributes=event)

received = []
while not received:
    received = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=20).get("Messages", [])
for message in received:
    print("received", message["Body"])
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
