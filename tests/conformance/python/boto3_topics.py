"""What a publisher written with boto3 does with topics; prints what it saw as JSON. Arguments: endpoint, secret."""
import json
import sys

import boto3


def client_of(secret):
    return boto3.client(
        'sns',
        endpoint_url=sys.argv[1],
        region_name='eu-central-1',
        aws_access_key_id='AKIDBOTO',
        aws_secret_access_key=secret,
    )


client = client_of(sys.argv[2])
seen = {}


def refused(call, **given):
    """The exception's class, its code, text and status."""
    try:
        call(**given)
    except client.exceptions.ClientError as error:
        response = error.response
        status = response['ResponseMetadata']['HTTPStatusCode']
        return [type(error).__name__, response['Error']['Code'], response['Error']['Message'], status]
    return None


made = client.create_topic(
    Name='boto3',
    Attributes={'DisplayName': 'é & <b> + %', 'KmsMasterKeyId': 'key'},
    Tags=[{'Key': 'team', 'Value': 'blue'}],
)
arn = made['TopicArn']
seen['arn'] = arn
seen['requestId'] = len(made['ResponseMetadata']['RequestId'])
seen['again'] = client.create_topic(Name='boto3', Tags=[])['TopicArn'] == arn
seen['tags'] = client.list_tags_for_resource(ResourceArn=arn)['Tags']
attributes = client.get_topic_attributes(TopicArn=arn)['Attributes']
seen['name'] = attributes['DisplayName']
client.set_topic_attributes(TopicArn=arn, AttributeName='KmsMasterKeyId', AttributeValue='')
seen['key'] = 'KmsMasterKeyId' in client.get_topic_attributes(TopicArn=arn)['Attributes']
client.add_permission(TopicArn=arn, Label='l', AWSAccountId=['111111111111'], ActionName=['Publish'])
client.remove_permission(TopicArn=arn, Label='l')
client.untag_resource(ResourceArn=arn, TagKeys=['team'])
seen['untagged'] = client.list_tags_for_resource(ResourceArn=arn)['Tags']
seen['topics'] = client.list_topics()['Topics']
published = client.publish(
    TopicArn=arn,
    Message='line\r\nline\t"quoted" \U0001f600',
    Subject='s',
    MessageAttributes={
        'text': {'DataType': 'String', 'StringValue': 'a+b c'},
        'bytes': {'DataType': 'Binary', 'BinaryValue': b'\x00\xff'},
    },
)
seen['published'] = len(published['MessageId'])
batch = client.publish_batch(
    TopicArn=arn, PublishBatchRequestEntries=[{'Id': 'a', 'Message': 'x'}, {'Id': 'b', 'Message': ''}]
)
seen['batch'] = [[one['Id'] for one in batch[part]] for part in ('Successful', 'Failed')]
seen['missing'] = refused(client.get_topic_attributes, TopicArn=arn + '-none')
seen['invalid'] = refused(client.create_topic, Name='no name')
seen['sms'] = refused(client.get_sms_attributes)
client.delete_topic(TopicArn=arn)
seen['deleted'] = client.list_topics()['Topics']
seen['forged'] = refused(client_of('guessed').list_topics)[1]
print(json.dumps(seen))
