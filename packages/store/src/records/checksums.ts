/**
 * Checksums of stored texts. A flipped bit in a text often leaves valid JSON, which would be delivered. Whoever stores
 * a text adds the checksum, and whoever loads it verifies the checksum once, before the text has any use. Each CRC-32
 * of a text of 1 KB takes 0.6 µs.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { openJson, parseStored, UnreadableRecordError } from './stored-json.ts'

/** Digits to the base 36 of the upper 31 bits of a CRC-32. */
const LENGTH = 6
const RECORD_SUM_LENGTH = ',"S":"01234567"}'.length

/** A text with its checksum at the end. `beside`: what is stored elsewhere and must not be changed either. */
export function sumText(text: string, beside = ''): string {
  return text + checksum(text, beside)
}

/** The text without its checksum. Throws an UnreadableRecordError if it was changed. */
export function checkText(summed: string, key: string, beside = ''): string {
  const text = summed.slice(0, -LENGTH)
  if (summed.slice(-LENGTH) !== checksum(text, beside))
    throw new UnreadableRecordError(key, differs(), summed)
  return text
}

/**
 * The JSON of a record with its checksum as the last member, so that scripts can still decode it. The checksum is a
 * part of a SHA-1, because scripts that complete a record have no CRC-32 (record-sum.lua).
 */
export function sumRecord(record: object): string {
  return sumOpen(openJson(record))
}

function sumOpen(open: string): string {
  return `${open},"S":"${hash('sha1', open).slice(0, 8)}"}`
}

/** The members of a summed record. Throws an UnreadableRecordError if it was changed. */
export function parseRecord(text: string, key: string): Record<string, unknown> {
  const open = text.slice(0, -RECORD_SUM_LENGTH)
  if (sumOpen(open) !== text) throw new UnreadableRecordError(key, differs(), text)
  return parseStored(`${open}}`, key)
}

/** `beside`: a text that is not stored with it. */
export function checksum(text: string, beside = ''): string {
  const sum = crc32(text)
  return ((beside === '' ? sum : crc32(beside, sum)) >>> 1).toString(36).padStart(LENGTH, '0')
}

export function differs(): TypeError {
  return new TypeError('the checksum differs: it was changed after it was stored')
}
