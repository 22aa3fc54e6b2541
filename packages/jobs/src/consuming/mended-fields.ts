/**
 * The fields of a dispatch job that BullMQ needs beside its data. BullMQ throws at a wrong one before it starts the
 * job, and its scripts reject for all jobs. A wrong field is therefore replaced, so that the messages are dispatched.
 */
import { isObject } from '@fantail/contracts'
import { JOB_OPTIONS } from '../bullmq/bull.ts'

/** More than any job that works has had, because the number of the start is the fence of its writes. */
const STARTS_AFTER_LOSS = '1000'
const COUNTERS: Record<string, string> = { ats: STARTS_AFTER_LOSS, atm: '0', stc: '0' }
const COUNT = /^\d{1,15}$/

/** Names and new values of the fields that are wrong. */
export function mendedFields(fields: Record<string, string>): Record<string, string> {
  const mended: Record<string, string> = {}
  for (const [name, value] of Object.entries(COUNTERS)) {
    const stored = fields[name]
    if (stored !== undefined && !COUNT.test(stored)) mended[name] = value
  }
  if (!isOptions(fields.opts)) mended.opts = JSON.stringify(JOB_OPTIONS)
  return mended
}

function isOptions(text: string | undefined): boolean {
  try {
    return isObject(JSON.parse(text ?? ''))
  } catch {
    return false
  }
}
