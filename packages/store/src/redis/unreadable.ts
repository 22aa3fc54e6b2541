/** Work over many records, in which one that cannot be read does not stop the others. */
import { UnreadableRecordError } from '../records/stored-json.ts'
import { isScriptFault } from './storage-errors.ts'

/** Called with a record that could not be read, or worked on, and with the key where it is stored. */
export type OnUnreadable = (error: Error, key: string) => void

/** Whether the data of one record has caused the error, so that work on other records can go on. */
export function isUnreadable(error: unknown): error is Error {
  if (error instanceof UnreadableRecordError || isScriptFault(error)) return true
  return error instanceof Error && error.message.startsWith('WRONGTYPE')
}

/** The result of `work`. undefined: its record cannot be read, and was reported. */
export async function whenReadable<T>(
  key: string,
  onUnreadable: OnUnreadable,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isUnreadable(error)) throw error
    onUnreadable(error, key)
    return undefined
  }
}

/**
 * The parts of a list, or none if their key has another type. Nobody is told here, because the sweep of indexes reports
 * such a key.
 */
export async function partsIfReadable<T>(read: () => Promise<T[]>): Promise<T[]> {
  return (await whenReadable('', () => undefined, read)) ?? []
}

/** The record, or nothing if it cannot be read. In a list, such a record must not hide the others. */
export function ifReadable<T>(read: () => T, onUnreadable?: (error: UnreadableRecordError) => void): T[] {
  try {
    return [read()]
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error
    onUnreadable?.(error)
    return []
  }
}
