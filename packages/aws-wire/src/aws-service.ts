/** The services whose protocols are spoken. STS has one operation, which says who the caller is. */
export type AwsService = 'sns' | 'sqs' | 'sts'

export const NAMESPACES: Record<AwsService, string> = {
  sns: 'http://sns.amazonaws.com/doc/2010-03-31/',
  sqs: 'http://queue.amazonaws.com/doc/2012-11-05/',
  sts: 'https://sts.amazonaws.com/doc/2011-06-15/',
}

/** `Version` of their Query requests. */
export const VERSIONS: Record<AwsService, string> = {
  sns: '2010-03-31',
  sqs: '2012-11-05',
  sts: '2011-06-15',
}

/** The answer as sent. */
export interface WireAnswer {
  status: number
  text: string
  headers: Record<string, string>
}
