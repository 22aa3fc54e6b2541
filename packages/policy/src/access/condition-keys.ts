/**
 * IAM's global condition keys, as access policies ask for them. A request has a key, or is known to lack it, or Fantail
 * cannot know. Fantail cannot know, for example, the network path of a call, or the tags of a principal. A key that no
 * table lists cannot be known either.
 */
/** null: the request lacks the key. undefined: it cannot be known whether the request has it. */
export type ConditionValue = string | readonly string[] | null | undefined

/** Answers the value of a key. The key's name is in lower case. */
export type ConditionKeys = (key: string) => ConditionValue

/** Account → id of its organization. */
export type Organizations = ReadonlyMap<string, string> | undefined

interface RequestFacts {
  /** Epoch ms. */
  now: number
  /** ARN of the topic or queue. */
  resource: string
  tags: Readonly<Record<string, string>> | undefined
  organizations: Organizations
}

/** A call of an account's key. */
export interface CallFacts extends RequestFacts {
  account: string
  principalArn: string
  userName: string
  isSecure: boolean
  remoteAddress: string | undefined
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined
  /** Keys of this action. */
  ofAction: Readonly<Record<string, string>> | undefined
}

/** A message, confirmation or dead letter that Fantail sends to a queue in SNS's name. */
export interface DeliveryFacts extends RequestFacts {
  topicArn: string
}

/** The service that sends deliveries, as policies name it. */
export const SENDING_SERVICE = 'sns.amazonaws.com'

type Table<Facts> = Readonly<Record<string, (facts: Facts) => ConditionValue>>

const lacking = () => null
const not = () => 'false'

const OF_EVERY_REQUEST: Table<RequestFacts> = {
  'aws:currenttime': ({ now }) => new Date(now).toISOString(),
  'aws:epochtime': ({ now }) => String(Math.floor(now / 1_000)),
  'aws:requestedregion': ({ resource }) => regionOf(resource),
  'aws:resourceaccount': ({ resource }) => accountOf(resource),
  'aws:resourceorgid': ({ resource, organizations }) => organizations?.get(accountOf(resource)),
  'aws:viaawsservice': not,
  ...table(lacking, ['aws:calledvia', 'aws:calledviafirst', 'aws:calledvialast']),
}

const OF_CALLS: Table<CallFacts> = {
  ...OF_EVERY_REQUEST,
  'aws:principalaccount': ({ account }) => account,
  'aws:principalarn': ({ principalArn }) => principalArn,
  'aws:principalisawsservice': not,
  'aws:principalorgid': ({ account, organizations }) => organizations?.get(account),
  'aws:principaltype': () => 'User',
  'aws:username': ({ userName }) => userName,
  'aws:sourceowner': ({ account }) => account,
  'aws:sourceip': ({ remoteAddress }) => remoteAddress,
  'aws:securetransport': ({ isSecure }) => String(isSecure),
  'aws:useragent': ({ header }) => header('user-agent') ?? null,
  'aws:referer': ({ header }) => header('referer') ?? null,
  ...table(lacking, ['aws:principalservicename', 'aws:principalservicenameslist']),
  ...table(lacking, ['aws:sourcearn', 'aws:sourceaccount', 'aws:sourceorgid', 'aws:sourceorgpaths']),
  ...table(lacking, ['sns:endpoint', 'sns:protocol']),
}

const OF_DELIVERIES: Table<DeliveryFacts> = {
  ...OF_EVERY_REQUEST,
  'aws:principalisawsservice': () => 'true',
  'aws:principalservicename': () => SENDING_SERVICE,
  'aws:principalservicenameslist': ({ resource }) => [
    SENDING_SERVICE,
    `sns.${regionOf(resource)}.amazonaws.com`,
  ],
  'aws:sourcearn': ({ topicArn }) => topicArn,
  'aws:sourceaccount': ({ topicArn }) => accountOf(topicArn),
  'aws:sourceorgid': ({ topicArn, organizations }) => organizations?.get(accountOf(topicArn)),
  'aws:securetransport': () => 'true',
  'aws:useragent': () => SENDING_SERVICE,
  // The service is no user. It has no session, and comes neither from a caller's address nor through an endpoint of a
  // VPC.
  ...table(lacking, [
    'aws:principalaccount',
    'aws:principalarn',
    'aws:principalorgid',
    'aws:principalorgpaths',
  ]),
  ...table(lacking, ['aws:principaltag/*', 'aws:userid', 'aws:username', 'aws:sourceidentity']),
  ...table(lacking, ['aws:assumedroot', 'aws:federatedprovider', 'aws:tokenissuetime']),
  ...table(lacking, ['aws:multifactorauthage', 'aws:multifactorauthpresent']),
  ...table(lacking, ['aws:ec2instancesourceprivateipv4', 'aws:ec2instancesourcevpc']),
  ...table(lacking, [
    'aws:sourceip',
    'aws:sourcevpc',
    'aws:sourcevpcarn',
    'aws:sourcevpce',
    'aws:vpcsourceip',
  ]),
  ...table(lacking, ['aws:vpceaccount', 'aws:vpceorgid', 'aws:vpceorgpaths']),
  ...table(lacking, ['aws:referer', 'aws:requesttag/*', 'aws:tagkeys', 'sns:endpoint', 'sns:protocol']),
}

export function keysOfCall(facts: CallFacts): ConditionKeys {
  return (key) => {
    const { ofAction } = facts
    return ofAction && Object.hasOwn(ofAction, key) ? ofAction[key] : knownOf(OF_CALLS, key, facts)
  }
}

export function keysOfDelivery(facts: DeliveryFacts): ConditionKeys {
  return (key) => knownOf(OF_DELIVERIES, key, facts)
}

const RESOURCE_TAG = 'aws:resourcetag/'

/** A key such as `aws:PrincipalTag/team` is in a table as `aws:principaltag/*`. */
function knownOf<Facts extends RequestFacts>(known: Table<Facts>, key: string, facts: Facts): ConditionValue {
  if (key.startsWith(RESOURCE_TAG)) return tagOf(facts.tags, key.slice(RESOURCE_TAG.length))
  const name = key.replace(/\/.*$/s, '/*')
  return Object.hasOwn(known, name) ? known[name]?.(facts) : undefined
}

/** The names of tags in condition keys have no letter case, so two tags may have one key. */
function tagOf(tags: RequestFacts['tags'] = {}, name: string): ConditionValue {
  const values = Object.entries(tags).flatMap(([tag, value]) => (tag.toLowerCase() === name ? [value] : []))
  return values.length > 1 ? undefined : (values[0] ?? null)
}

function regionOf(arn: string): string {
  return arn.split(':', 4)[3] ?? ''
}

function accountOf(arn: string): string {
  return arn.split(':', 5)[4] ?? ''
}

function table<Value>(value: Value, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, value]))
}
