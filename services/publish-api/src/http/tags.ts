/** Groups of operations, in the order in which the document shows them. */
export const TAGS = {
  Messages: 'Publish to a topic, and see how the deliveries of a message ended.',
  Topics: 'A message that is published to a topic goes to each of its subscriptions.',
  Subscriptions: 'Webhooks and queues that get the messages of a topic: settings, state, keys of signatures.',
  'Delivery policies': 'Try a retry policy before it is set.',
  'Filter policies': 'Try a filter policy on a message before it is set.',
  Queues:
    'Queues with the semantics of Amazon SQS: send, receive, acknowledge, look inside, count dead letters.',
  Consumers: 'Webhooks that a queue’s messages are pushed to in batches.',
  Redrives: 'Tasks that move dead letters back to where they came from, or to another queue.',
  Quarantine:
    'Messages that cannot be decoded wait here for an operator. Only keys of the whole server see them.',
  Keys: 'API keys and access keys. Only keys that are bound to no names manage them.',
  Portal: 'Links for customers of the operator, and the few routes that their sessions may call.',
  Mail: 'Addresses that get no mail, and the pages that links in mails open.',
  'Mobile push': 'Credentials of push providers, and the devices and browsers that get notifications.',
  'Text messages': 'Settings and spend of text messages, and phone numbers that get none.',
  Service: 'Health, metrics and this documentation.',
  AWS: 'Amazon’s own protocols for SNS, SQS and STS on the same port, and what delivered messages link to.',
  Webhooks: 'Requests that Fantail sends to subscribed endpoints.',
} as const

export type Tag = keyof typeof TAGS
