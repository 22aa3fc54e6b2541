/** Schemas of tasks that act on many lanes, or erase what belongs to a customer. */
import { z } from 'zod'
import { BULK_ACTIONS } from '../../records.ts'
import { named, namedInput, pageOf, pageQuery, TopicReference, timestamp } from '../shared-schemas.ts'
import { LANE_SEARCH_CHARS_MAX } from './lane-list-schemas.ts'
import { VERDICT_CODES } from './lane-schemas.ts'

/** Subscriptions or hosts that a bulk request names. Past it: `validation_failed`. */
const BULK_NAMED_MAX = 1_000

const text = () => z.string().min(1).max(LANE_SEARCH_CHARS_MAX)

const BulkSelection = z.strictObject({
  subscriptions: z
    .array(
      z
        .string()
        .min(1)
        .max(LANE_SEARCH_CHARS_MAX * 4),
    )
    .min(1)
    .max(BULK_NAMED_MAX)
    .optional()
    .describe(`Only these subscriptions, by id or ARN; at most ${BULK_NAMED_MAX}.`),
  hosts: z
    .array(text().toLowerCase())
    .min(1)
    .max(BULK_NAMED_MAX)
    .optional()
    .describe('Only lanes to one of these hosts: `example.com` with all its ports, or `example.com:8443`.'),
  topic: TopicReference.optional().describe('Only lanes of this topic.'),
  topicPrefix: text().optional().describe('Only lanes of topics whose names begin with this.'),
  state: z
    .enum(['inNeed', ...VERDICT_CODES])
    .optional()
    .describe('Only lanes with this verdict now. inNeed: with a verdict that needs attention.'),
  status: z.enum(['pending', 'active', 'paused']).optional().describe('Only subscriptions with this status.'),
  q: text()
    .optional()
    .describe('Only lanes whose endpoint, name, topic or subscription id contains this text.'),
  metadata: z
    .strictObject({
      key: text().describe('The key that the metadata must have.'),
      value: z
        .string()
        .max(LANE_SEARCH_CHARS_MAX * 4)
        .describe('The value that it must have under this key, exactly.'),
    })
    .optional()
    .describe('Only subscriptions with this key and value in their metadata.'),
})

export const BulkPlanInput = namedInput(
  'BulkPlanInput',
  z
    .strictObject({
      action: z
        .enum(BULK_ACTIONS)
        .describe(
          'test: one attempt at each endpoint, outside its lane. retry: what waits for a retry is due now. pause, ' +
            'resume: as of one subscription. redrive: dead letters of the lanes go back to them. purge: what waits is ' +
            'discarded. erase: everything of the customer is deleted, see the description.',
        ),
      select: BulkSelection.refine((select) => Object.keys(select).length > 0, {
        error: 'must have at least one condition',
      }).describe('The lanes to act on. All conditions must hold.'),
      maxPerSecond: z
        .number()
        .positive()
        .max(100_000)
        .nullish()
        .describe(
          'retry: the most attempts a second for each lane. redrive: the most messages for each queue.',
        ),
    })
    .meta({
      description: 'An action, and what to act on.',
      examples: [{ action: 'pause', select: { hosts: ['example.com'] } }],
    }),
)

export const BulkStartInput = namedInput(
  'BulkStartInput',
  z.strictObject({ plan: z.string().min(1).max(64).describe('The `id` that `planBulk` answered.') }).meta({
    description: 'The plan to carry out.',
    examples: [{ plan: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21' }],
  }),
)

const BulkFailureView = z.object({
  object: z.string().describe('Id of the subscription, or ARN of the topic or queue.'),
  code: z.string().describe('Error code, as of a request about this object alone.'),
  message: z.string().describe('The reason in words.'),
})

const counts = (what: string) => z.record(z.string(), z.int()).describe(what)

export const BulkTaskView = named(
  'BulkTask',
  z
    .object({
      id: z.string().describe('Id of the plan, and of the task that it becomes.'),
      action: z.enum(BULK_ACTIONS).describe('The action on each object.'),
      status: z
        .enum(['planned', 'running', 'canceling', 'canceled', 'completed'])
        .describe('planned: nothing was changed yet. canceling: its present batch is ending.'),
      words: z.string().describe('The plan in words, for people: `pause 405 lanes, 2,015 deliveries`.'),
      counts: counts('Numbers of what was found, by kind: lanes, deliveries that wait, dead letters, ….'),
      sample: z.array(z.string()).describe('The first objects, for people.'),
      refused: z
        .object({
          count: z.int().describe('Objects that the plan leaves out.'),
          first: z.array(BulkFailureView).describe('The first 100 of them, each with the reason.'),
        })
        .describe('Selected objects that the task does not act on.'),
      maxPerSecond: z.number().nullable().describe('Highest rate for each lane or queue; null: none.'),
      total: z.int().describe('Steps of the task.'),
      done: z.int().describe('Steps that have ended, failed ones included.'),
      failed: z.int().describe('Steps that have failed. `getBulkTask` lists the first 1,000.'),
      results: counts('Numbers of what was done so far, by kind: paused, unchanged, retried, discarded, ….'),
      failures: z.array(BulkFailureView).describe('The objects that failed. Lists of tasks leave it empty.'),
      canUndo: z
        .boolean()
        .describe('Whether `undoBulkTask` can be called: it paused or resumed, has ended and is not undone.'),
      undoes: z.string().nullable().describe('Id of the task that this one undoes; null: none.'),
      undoneBy: z.string().nullable().describe('Id of the task that undoes this one; null: none.'),
      plannedAt: timestamp('When it was planned'),
      expiresAt: timestamp('When a plan expires')
        .nullable()
        .describe('Start it before. null: it has started.'),
      startedAt: timestamp('When it began').nullable().describe('When it began; null: it has not.'),
      endedAt: timestamp('When it ended').nullable().describe('When it ended; null: it has not.'),
    })
    .meta({
      description: 'A plan, or the task that carries it out.',
      examples: [
        {
          id: '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21',
          action: 'pause',
          status: 'planned',
          words: 'pause 405 lanes, 2,015 deliveries',
          counts: { lanes: 405, deliveries: 2_015 },
          sample: ['https://example.com/hook'],
          refused: { count: 0, first: [] },
          maxPerSecond: null,
          total: 405,
          done: 0,
          failed: 0,
          results: {},
          failures: [],
          canUndo: false,
          undoes: null,
          undoneBy: null,
          plannedAt: '2026-11-21T09:31:00.000Z',
          expiresAt: '2026-11-21T09:46:00.000Z',
          startedAt: null,
          endedAt: null,
        },
      ],
    }),
)

export const BulkTaskListQuery = z.strictObject({ ...pageQuery })
export const BulkTaskList = named('BulkTaskList', pageOf('tasks', BulkTaskView))
