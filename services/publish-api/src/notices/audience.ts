/** Finds the notices topics that a piece of news concerns, by the account and the beginning of a topic's name. */
import { directOwnerOf, nameOfArn, type TopicRecord } from '@fantail/contracts'

/** A topic with the setting `notices`. */
type NoticesTopic = Pick<TopicRecord, 'arn' | 'notices'>

/** Many topics may share a prefix. A look-up costs as much as there are different lengths, and not topics. */
export class Audience {
  readonly #account: string
  /** Account, a space and the prefix → ARNs. */
  readonly #byPrefix: ReadonlyMap<string, string[]>
  readonly #lengths: readonly number[]
  readonly #own: ReadonlySet<string>

  /** `account`: the server's own, whose topics about everything also get news of the server. */
  constructor(topics: readonly NoticesTopic[], account: string) {
    const listening = topics.filter(({ notices }) => typeof notices === 'string')
    const groups = Map.groupBy(listening, ({ arn, notices }) => `${accountOf(arn)} ${notices}`)
    this.#account = account
    this.#byPrefix = new Map([...groups].map(([prefix, list]) => [prefix, list.map(({ arn }) => arn)]))
    this.#lengths = [...new Set(listening.map(({ notices }) => notices?.length ?? 0))]
    this.#own = new Set(listening.map(({ arn }) => arn))
  }

  get isEmpty(): boolean {
    return this.#own.size === 0
  }

  /**
   * Whether nobody gets news of this topic. It may get notices itself: notices that fail would then cause more
   * notices, also between two such topics. Or it is internal, for direct messages.
   */
  isSilent(topicArn: string): boolean {
    return this.#own.has(topicArn) || directOwnerOf(topicArn) !== undefined
  }

  /** `topicArn`: '' for news of the server, or of data whose topic is unknown. */
  topicsFor(topicArn: string): string[] {
    if (topicArn === '') return this.#byPrefix.get(`${this.#account} `) ?? []
    const name = nameOfArn(topicArn)
    const account = accountOf(topicArn)
    return this.#lengths.flatMap((length) =>
      length > name.length ? [] : (this.#byPrefix.get(`${account} ${name.slice(0, length)}`) ?? []),
    )
  }
}

function accountOf(arn: string): string {
  return arn.split(':', 5)[4] ?? ''
}
