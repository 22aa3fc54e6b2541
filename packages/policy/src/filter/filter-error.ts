/** A filter policy that is refused; the message is SNS's own text, without the prefix of the operation (sns-semantics §3.3). */
export class FilterPolicyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FilterPolicyError'
  }
}
