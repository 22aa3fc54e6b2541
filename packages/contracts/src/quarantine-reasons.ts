/** Reasons for entries of the quarantine, with one sentence each. */

export const QUARANTINE_REASONS = {
  jobUnreadable: 'the data of a dispatch job cannot be decoded',
  jobDataLost: 'the data of a dispatch job is gone, as after a load of an append-only file that was cut',
  jobWithoutMessages: 'the job with the messages of this part was deleted',
  messageUnreadable: 'a message among the readable ones of its job cannot be decoded',
  messageUnmatchable: 'the filters of its topic fail at the message',
  topicUnreadable: 'the record of the topic that the message was published to cannot be decoded',
  bodyMissing: 'the body of a waiting delivery is gone',
  bodyUnreadable: 'the body of a waiting delivery cannot be decoded',
  queueMessageUnreadable: 'a message of a queue cannot be decoded, or has lost a part',
  recordUnreadable:
    'a stored record, such as that of a queue, cannot be read; it stays where it is, and is tried again',
} as const

export type QuarantineReason = keyof typeof QUARANTINE_REASONS
