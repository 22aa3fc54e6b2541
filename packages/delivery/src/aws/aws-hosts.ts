/** Host names of AWS's services by region. */

/** DNS suffixes of AWS's partitions that differ from the usual suffix. */
const SUFFIXES: Record<string, string> = { 'aws-cn': 'amazonaws.com.cn' }
const SUFFIX = 'amazonaws.com'

interface Place {
  partition: string
  region: string
}

export function awsHost(service: string, { partition, region }: Place): string {
  return `${service}.${region}.${SUFFIXES[partition] ?? SUFFIX}`
}
