/** Differences between Svix and Fantail that every import has. */
import type { Finding } from '../plan/findings.ts'

export const EACH_TIME: Omit<Finding, 'objects'>[] = [
  {
    matter: 'messages',
    what: 'lost',
    text: 'messages and attempts that Svix has stored, and what still waits there',
    remedy: 'publish here, and let Svix deliver what it has',
  },
  {
    matter: 'messages',
    what: 'changed',
    text: 'publishers publish to the topic of an application, with `eventType`, and not to Svix',
  },
  {
    matter: 'requests',
    what: 'lost',
    text: 'earlier secrets that still sign after a rotation, for a day by default: Svix shows only the newest',
    remedy: 'import again when they sign no more, before you resume the subscriptions',
  },
  {
    matter: 'requests',
    what: 'changed',
    text: '`svix-id` is the id of the message here, which does not begin with `msg_`',
  },
  {
    matter: 'requests',
    what: 'changed',
    text: 'requests also have `webhook-…`, `x-amz-sns-…` and `x-fantail-event-type`, and another `User-Agent`',
    remedy: 'FANTAIL_USER_AGENT sets the last one',
  },
  {
    matter: 'delivery',
    what: 'changed',
    text: '8 attempts last 28.4 h instead of 27.6 h, and the third comes after 19 min instead of 5 min',
  },
  {
    matter: 'delivery',
    what: 'lost',
    text: '`webhook-delivery: abort-message` in an answer does not end the retries',
  },
  {
    matter: 'details',
    what: 'lost',
    text: 'links of the portal, integrations, operational webhooks and tokens',
    remedy: 'docs/guides/svix.md names what does the same here',
  },
]
