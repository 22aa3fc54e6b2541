/**
 * CloudWatch's metrics of SNS and SQS under their own names (checklist 197, 198, 201), so that users can keep their
 * dashboards. A figure that Fantail already counts is exported a second time, at no cost. The other metrics have
 * instruments of their own. docs/metrics.md has the table.
 */
import {
  Counter,
  type CounterSeries,
  Gauge,
  Histogram,
  type InstrumentWords,
  type Labels,
} from './instruments.ts'

const KIBIBYTE = 1_024
/** The largest bound is the largest publish or queue message. */
const SIZE_BOUNDS_BYTES = [1, 4, 16, 64, 256, 1_024].map((kibibytes) => kibibytes * KIBIBYTE)
/**
 * A series of a histogram has ten lines in a scrape.
 * @limit Series of one histogram among the AWS metrics. Past it: further label sets share one series.
 */
const AWS_HISTOGRAM_SERIES_MAX = 500

export function createAwsInstruments() {
  return {
    publishSizeBytes: new Histogram(
      {
        name: 'aws_sns_publish_size_bytes',
        help: 'PublishSize: bytes of a publish with its attributes; a batch is one.',
        unit: 'By',
        labels: ['TopicName'],
        seriesMax: AWS_HISTOGRAM_SERIES_MAX,
      },
      SIZE_BOUNDS_BYTES,
    ),
    queueSent: ofQueue('number_of_messages_sent', 'NumberOfMessagesSent: messages added to a queue.'),
    queueReceived: ofQueue(
      'number_of_messages_received',
      'NumberOfMessagesReceived: messages that receives answered.',
    ),
    queueDeleted: ofQueue(
      'number_of_messages_deleted',
      'NumberOfMessagesDeleted: deletions by receipt handle that were answered as done.',
    ),
    queueEmptyReceives: ofQueue(
      'number_of_empty_receives',
      'NumberOfEmptyReceives: receives that answered no message.',
    ),
    queueDeduplicated: ofQueue(
      'number_of_deduplicated_sent_messages',
      'NumberOfDeduplicatedSentMessages: messages that a FIFO queue had been sent before.',
    ),
    queueSentSizeBytes: new Histogram(
      {
        name: 'aws_sqs_sent_message_size_bytes',
        help: 'SentMessageSize: bytes of a message added to a queue, with its attributes.',
        unit: 'By',
        labels: ['QueueName'],
        seriesMax: AWS_HISTOGRAM_SERIES_MAX,
      },
      SIZE_BOUNDS_BYTES,
    ),
    queueVisible: gauge('number_of_messages_visible', 'MessagesVisible: messages that can be received now.'),
    queueNotVisible: gauge(
      'number_of_messages_not_visible',
      'MessagesNotVisible: messages that were received and not deleted.',
    ),
    queueDelayed: gauge('number_of_messages_delayed', 'MessagesDelayed: messages that wait for their delay.'),
    queueGroupsInFlight: gauge(
      'number_of_groups_with_inflight_messages',
      'GroupsWithInflightMessages: message groups of a FIFO queue with a message in flight.',
    ),
    queueOldestSeconds: ageGauge('', 'time since the oldest message was sent.'),
    queueNoisyGroups: gauge(
      'number_of_noisy_groups',
      'NoisyGroups: message groups that wait behind the others.',
    ),
    quietVisible: gauge(
      'number_of_messages_visible_in_quiet_groups',
      'MessagesVisibleInQuietGroups: messages of the other groups that can be received now.',
    ),
    quietNotVisible: gauge(
      'number_of_messages_not_visible_in_quiet_groups',
      'MessagesNotVisibleInQuietGroups: messages of the other groups that were received and not deleted.',
    ),
    quietOldestSeconds: ageGauge(
      'InQuietGroups',
      'time since the first visible message of the other groups was sent.',
    ),
  }
}

export type AwsInstruments = ReturnType<typeof createAwsInstruments>

function ofQueue(name: string, help: string) {
  return new Counter({ name: `aws_sqs_${name}`, help, labels: ['QueueName'] })
}

function gauge(name: string, field: string) {
  return new Gauge({
    name: `aws_sqs_approximate_${name}`,
    help: `ApproximateNumberOf${field}`,
    labels: ['QueueName'],
  })
}

function ageGauge(groups: '' | 'InQuietGroups', help: string) {
  return new Gauge({
    name: `aws_sqs_approximate_age_of_oldest_message${groups && '_in_quiet_groups'}_seconds`,
    help: `ApproximateAgeOfOldestMessage${groups}: ${help}`,
    unit: 's',
    labels: ['QueueName'],
  })
}

/** Exports a counter under another name. It sums over the labels that the view does not have. */
export interface CounterView {
  words: Pick<InstrumentWords<string>, 'name' | 'help' | 'unit'>
  series(): Iterable<Pick<CounterSeries, 'labels' | 'value'>>
}

interface Counted {
  messagesPublished: CounterView
  deliveriesDelivered: CounterView
  deliveryFailures: CounterView
  deliveriesDeadLettered: CounterView
  deadLettersRefused: CounterView
  deliveriesFilteredOut: CounterView
}

/** Metric names are `FilteredOut-` and one of these. */
const FILTER_CAUSES = [
  'MessageAttributes',
  'MessageBody',
  'InvalidAttributes',
  'NoMessageAttributes',
  'InvalidMessageBody',
]

export function snsViews(counted: Counted): CounterView[] {
  const filtered = counted.deliveriesFilteredOut
  return [
    view('NumberOfMessagesPublished', counted.messagesPublished),
    view('NumberOfNotificationsDelivered', counted.deliveriesDelivered),
    view('NumberOfNotificationsFailed', counted.deliveryFailures),
    view('NumberOfNotificationsFilteredOut', filtered),
    ...FILTER_CAUSES.map((cause) => view(`NumberOfNotificationsFilteredOut-${cause}`, filtered, cause)),
    view('NumberOfNotificationsRedrivenToDlq', counted.deliveriesDeadLettered),
    view('NumberOfNotificationsFailedToRedriveToDlq', counted.deadLettersRefused),
  ]
}

function view(field: string, counter: CounterView, cause?: string): CounterView {
  const name = `aws_sns${field.replaceAll('-', '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
  const ours = `${counter.words.name}_total${cause === undefined ? '' : `{cause="${cause}"}`}`
  return {
    words: { name, help: `${field}: ${ours} under SNS’s name.` },
    series: () => byTopic(counter, cause),
  }
}

function byTopic(counter: CounterView, cause: string | undefined) {
  const sums = new Map<string, { labels: Labels; value: number }>()
  for (const { labels, value } of counter.series()) {
    if (cause !== undefined && labels.cause !== cause) continue
    const { topic } = labels
    const sum = sums.get(topic ?? '') ?? {
      labels: topic === undefined ? labels : { TopicName: topic },
      value: 0,
    }
    sum.value += value
    sums.set(topic ?? '', sum)
  }
  return sums.values()
}
