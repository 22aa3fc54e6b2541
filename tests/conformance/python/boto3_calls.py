"""What a consumer written with boto3 does with queues; prints what it saw as JSON. Argument: the endpoint."""
import json
import sys

import boto3

client = boto3.client(
    'sqs',
    endpoint_url=sys.argv[1],
    region_name='us-east-1',
    aws_access_key_id='fantail',
    aws_secret_access_key='fantail',
)
sts = boto3.client(
    'sts',
    endpoint_url=sys.argv[1],
    region_name='us-east-1',
    aws_access_key_id='fantail',
    aws_secret_access_key='fantail',
)
seen = {'protocol': client.meta.service_model.metadata['protocol']}

identity = sts.get_caller_identity()
seen['identity'] = [identity['Arn'], identity['UserId'], identity['Account']]


def refused(call, **given):
    """The exception's class, its code, text and status."""
    try:
        call(**given)
    except client.exceptions.ClientError as error:
        response = error.response
        status = response['ResponseMetadata']['HTTPStatusCode']
        return [type(error).__name__, response['Error']['Code'], response['Error']['Message'], status]
    return None


dead = client.create_queue(QueueName='boto3-dead')['QueueUrl']
arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=['QueueArn'])['Attributes']['QueueArn']
policy = json.dumps({'deadLetterTargetArn': arn, 'maxReceiveCount': 1})
url = client.create_queue(
    QueueName='boto3',
    Attributes={'VisibilityTimeout': '0', 'RedrivePolicy': policy},
    tags={'team': 'blue'},
)['QueueUrl']
seen['url'] = client.get_queue_url(QueueName='boto3')['QueueUrl'] == url
seen['tags'] = client.list_queue_tags(QueueUrl=url)['Tags']
seen['attributes'] = sorted(client.get_queue_attributes(QueueUrl=dead, AttributeNames=['All'])['Attributes'])
seen['noNames'] = 'Attributes' in client.get_queue_attributes(QueueUrl=dead)
seen['missing'] = refused(client.get_queue_url, QueueName='boto3-none')
seen['different'] = refused(client.create_queue, QueueName='boto3', Attributes={'DelaySeconds': '1'})

attributes = {
    'count': {'DataType': 'Number', 'StringValue': '7'},
    'bytes': {'DataType': 'Binary', 'BinaryValue': b'\x00\x01'},
}
sent = client.send_message(QueueUrl=url, MessageBody='hello', MessageAttributes=attributes)
message = client.receive_message(QueueUrl=url, MessageAttributeNames=['All'])['Messages'][0]
seen['received'] = [message['MessageId'] == sent['MessageId'], message['Body']]
seen['binary'] = message['MessageAttributes']['bytes']['BinaryValue'] == b'\x00\x01'
seen['empty'] = 'Messages' in client.receive_message(QueueUrl=url)
counts = client.get_queue_attributes(QueueUrl=dead, AttributeNames=['ApproximateNumberOfMessages'])
seen['dead'] = counts['Attributes']
seen['sources'] = client.list_dead_letter_source_queues(QueueUrl=dead)['queueUrls'] == [url]
client.purge_queue(QueueUrl=dead)
seen['purged'] = refused(client.purge_queue, QueueUrl=dead)
pages = client.get_paginator('list_queues').paginate(QueueNamePrefix='boto3', PaginationConfig={'PageSize': 1})
seen['pages'] = [len(page['QueueUrls']) for page in pages]
for queue in (url, dead):
    client.delete_queue(QueueUrl=queue)
print(json.dumps(seen))
