"""Runs Ansible's modules for SNS and SQS as a playbook does. Prints what each step changed. Argument: the endpoint."""
import contextlib
import importlib
import io
import json
import sys

from ansible.module_utils.testing import patch_module_args

ACCOUNT = {'endpoint_url': sys.argv[1], 'region': 'us-east-1', 'access_key': 'fantail', 'secret_key': 'fantail'}
seen = {}


def outcome(name, arguments):
    """What the module prints. A module ends by SystemExit."""
    module = importlib.import_module(f'ansible_collections.community.aws.plugins.modules.{name}')
    printed = io.StringIO()
    with patch_module_args({**ACCOUNT, **arguments}), contextlib.redirect_stdout(printed):
        try:
            module.main()
        except SystemExit:
            pass
    return json.loads(printed.getvalue())


def run(name, arguments):
    result = outcome(name, arguments)
    if result.get('failed'):
        raise RuntimeError(f'{name} {json.dumps(arguments)}: {json.dumps(result)}')
    return result


def step(title, module, with_check=True, **arguments):
    """Whether check mode announces a change, the module makes one, and then neither of them finds any."""
    check = {**arguments, '_ansible_check_mode': True}
    before = [run(module, check)['changed']] if with_check else []
    made = run(module, arguments)
    again = run(module, arguments)['changed']
    seen[title] = before + [made['changed'], again, run(module, check)['changed']]
    return made


def statement(name, **members):
    principal = {'AWS': 'arn:aws:iam::111111111111:root'}
    return {'Sid': name, 'Effect': 'Allow', 'Principal': principal, **members}


def policy_of(*statements):
    return {'Version': '2012-10-17', 'Statement': list(statements)}


def queue_facts(result):
    names = ['visibility_timeout', 'delay_seconds', 'maximum_message_size', 'message_retention_period']
    names += ['receive_message_wait_time_seconds', 'tags', 'redrive_policy']
    return {name: result.get(name) for name in names}


dead = step('dead-letter queue', 'sqs_queue', name='ansible-dead')
arn = dead.get('queue_arn') or run('sqs_queue', {'name': 'ansible-dead'})['queue_arn']
numbers = {
    'visibility_timeout': 900,
    'delay_seconds': 900,
    'maximum_message_size': 9009,
    'message_retention_period': 900,
    'receive_message_wait_time_seconds': 10,
}
send = statement('send', Action=['sqs:SendMessage', 'sqs:GetQueueUrl'], Resource='*')
work = {
    **numbers,
    'name': 'ansible-work',
    'policy': policy_of(send),
    'redrive_policy': {'maxReceiveCount': 5, 'deadLetterTargetArn': arn},
    'tags': {'team': 'blue', 'Tag Two': 'two'},
}
seen['queue as read'] = queue_facts(step('queue', 'sqs_queue', **work))
# The same policy in other words: one action as a list, another order, an account instead of its root.
reworded = {**send, 'Action': ['sqs:GetQueueUrl', 'sqs:SendMessage'], 'Principal': {'AWS': '111111111111'}}
seen['reworded policy'] = run('sqs_queue', {**work, 'policy': policy_of(reworded)})['changed']
changed = {**work, 'delay_seconds': 1, 'tags': {'team': 'green'}}
changed['redrive_policy'] = {**work['redrive_policy'], 'maxReceiveCount': 3}
changed['policy'] = policy_of(statement('read', Action='sqs:ReceiveMessage', Resource='*'))
seen['changed queue as read'] = queue_facts(step('changed queue', 'sqs_queue', **changed))
# The module's manual drops the policy so, but AWS refuses it in these words.
seen['empty redrive policy'] = outcome('sqs_queue', {'name': 'ansible-work', 'redrive_policy': {}})['error']
step('whole policy', 'sqs_queue', name='ansible-work', policy={
    'Version': '2012-10-17',
    'Statement': {'Effect': 'Allow', 'Principal': '*', 'Action': '*', 'Resource': '*'},
})
step('sealed queue', 'sqs_queue', name='ansible-sealed', kms_master_key_id='alias/aws/sqs')
step('FIFO queue', 'sqs_queue', name='ansible', queue_type='fifo', content_based_deduplication=True)
fifo = {'fifo_throughput_limit': 'perMessageGroupId', 'deduplication_scope': 'messageGroup'}
step('faster FIFO queue', 'sqs_queue', name='ansible', queue_type='fifo', content_based_deduplication=True, **fifo)

retries = {
    'minDelayTarget': 20,
    'maxDelayTarget': 20,
    'numRetries': 3,
    'numMaxDelayRetries': 0,
    'numNoDelayRetries': 0,
    'numMinDelayRetries': 0,
    'backoffFunction': 'linear',
}
queue = {'protocol': 'sqs', 'endpoint': dead['queue_arn'], 'attributes': {'RawMessageDelivery': True}}
topic = {
    'name': 'ansible-orders',
    'display_name': 'My topic',
    'policy': policy_of(statement('publish', Action='sns:Publish', Resource='arn:aws:sns:us-east-1:000000000000:*')),
    'delivery_policy': {'http': {'defaultHealthyRetryPolicy': retries}},
    'subscriptions': [queue],
    'tags': {'team': 'blue', 'Tag Two': 'two'},
}
# In check mode, the module itself refuses settings of a topic that does not exist.
made = step('topic', 'sns_topic', with_check=False, **topic)['sns_topic']
seen['topic as read'] = {
    'name': made['display_name'],
    'retries': json.loads(made['delivery_policy'])['http']['defaultHealthyRetryPolicy']['numRetries'],
    'subscriptions': [one['endpoint'] == dead['queue_arn'] for one in made['subscriptions']],
}
slower = {**retries, 'minDelayTarget': 40, 'maxDelayTarget': 40, 'numRetries': 6}
http = {'defaultHealthyRetryPolicy': slower, 'disableSubscriptionOverrides': True}
http['defaultThrottlePolicy'] = {'maxReceivesPerSecond': 10}
other = {
    **topic,
    'display_name': 'My new topic',
    'policy': policy_of(statement('read', Action=['sns:Subscribe', 'sns:Publish'], Resource='*')),
    'delivery_policy': {'http': http},
    'subscriptions': [{**queue, 'attributes': {'RawMessageDelivery': False}}],
    'tags': {'team': 'green'},
}
step('changed topic', 'sns_topic', **other)
info = run('sns_topic_info', {'topic_arn': run('sns_topic', other)['sns_arn']})['result']['sns_topic']
seen['topic info'] = [info['display_name'], len(info['subscriptions']), info['owner']]
step('topic without subscriptions', 'sns_topic', **{**other, 'subscriptions': []})
pending = {'protocol': 'https', 'endpoint': 'https://hooks.example.com/in'}
made = run('sns_topic', {**other, 'subscriptions': [pending]})
seen['pending subscription'] = [made['changed'], run('sns_topic', {**other, 'subscriptions': [pending]})['changed']]
fifo_topic = {'name': 'ansible', 'topic_type': 'fifo', 'content_based_deduplication': 'enabled'}
step('FIFO topic', 'sns_topic', with_check=False, **fifo_topic)
step('FIFO topic without deduplication', 'sns_topic', **{**fifo_topic, 'content_based_deduplication': 'disabled'})

for name in ('ansible-orders', 'ansible.fifo'):
    step(f'no {name}', 'sns_topic', name=name, state='absent')
for name in ('ansible-work', 'ansible-dead', 'ansible-sealed', 'ansible.fifo'):
    step(f'no queue {name}', 'sqs_queue', name=name, state='absent')
print(json.dumps(seen))
