/** The two services whose protocols are spoken. */
export type AwsService = 'sns' | 'sqs'

export const NAMESPACES: Record<AwsService, string> = {
  sns: 'http://sns.amazonaws.com/doc/2010-03-31/',
  sqs: 'http://queue.amazonaws.com/doc/2012-11-05/',
}

/** `Version` of their Query requests. */
export const VERSIONS: Record<AwsService, string> = { sns: '2010-03-31', sqs: '2012-11-05' }

/** What is sent back. */
export interface WireAnswer {
  status: number
  text: string
  headers: Record<string, string>
}
