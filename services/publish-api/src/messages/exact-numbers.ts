/**
 * Keeps numbers as they were written. After JSON.parse and JSON.stringify, 12345678901234567890 ends in 7000 and 1e400
 * becomes null, which would change a publisher's ids silently. If a text has such a number, a message is therefore a
 * part of the text itself, without white space. Rejected: a reviver of JSON.parse that keeps the source of each number.
 * It takes ten times as long as parsing.
 */
import { endOfText } from '@fantail/contracts'

/** An exponent, a fraction or sixteen digits: JSON.stringify may write such a number differently. */
const RISKY = /\d[.eE]|\d{16}|-0/
const SPACE = 0x20
const SPACES = /[ \t\n\r]*/y
const END_OF_SCALAR = /[,\]}\s]|$/g

export function mayLoseDigits(text: string): boolean {
  return RISKY.test(text)
}

/** A value in a text that is known to be JSON. Its parts are found when they are asked for. */
export class WrittenValue {
  readonly #json: string
  readonly #from: number

  constructor(json: string, from = 0) {
    this.#json = json
    this.#from = afterSpaces(json, from)
  }

  /** The value of an object's member: the last one of the name, as JSON.parse takes it. */
  member(name: string): WrittenValue | undefined {
    return this.#members.get(name)
  }

  /** The elements of an array, in their order. */
  get elements(): WrittenValue[] {
    const found: WrittenValue[] = []
    for (let at = this.#inside(); this.#json[at] !== ']'; at = this.#next(found.at(-1) as WrittenValue))
      found.push(new WrittenValue(this.#json, at))
    return found
  }

  /** The text without white space between its parts. */
  get text(): string {
    return withoutSpaces(this.#json.slice(this.#from, this.#end))
  }

  get #members(): Map<string, WrittenValue> {
    this.#known ??= this.#findMembers()
    return this.#known
  }
  #known: Map<string, WrittenValue> | undefined

  #findMembers(): Map<string, WrittenValue> {
    const found = new Map<string, WrittenValue>()
    for (let at = this.#inside(); this.#json[at] !== '}'; ) {
      const end = endOfText(this.#json, at) + 1
      const value = new WrittenValue(this.#json, afterSpaces(this.#json, end) + 1)
      found.set(JSON.parse(this.#json.slice(at, end)) as string, value)
      at = this.#next(value)
    }
    return found
  }

  /** The place of the first part, or of the bracket that ends the value. */
  #inside(): number {
    return afterSpaces(this.#json, this.#from + 1)
  }

  /** The place after a part and its comma, or of the bracket that ends the value. */
  #next(part: WrittenValue): number {
    const at = afterSpaces(this.#json, part.#end)
    return this.#json[at] === ',' ? afterSpaces(this.#json, at + 1) : at
  }

  get #end(): number {
    const first = this.#json[this.#from]
    if (first === '"') return endOfText(this.#json, this.#from) + 1
    if (first === '{' || first === '[') return endOfNesting(this.#json, this.#from)
    END_OF_SCALAR.lastIndex = this.#from
    return END_OF_SCALAR.exec(this.#json)?.index ?? this.#json.length
  }
}

function afterSpaces(json: string, at: number): number {
  SPACES.lastIndex = at
  SPACES.test(json)
  return SPACES.lastIndex
}

function endOfNesting(json: string, from: number): number {
  let depth = 0
  for (let at = from; at < json.length; at++) {
    const character = json[at]
    if (character === '"') at = endOfText(json, at)
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return json.length
}

/** Texts keep their spaces. */
function withoutSpaces(json: string): string {
  let kept = ''
  let from = 0
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') at = endOfText(json, at)
    else if (json.charCodeAt(at) <= SPACE) {
      kept += json.slice(from, at)
      from = at + 1
    }
  }
  return kept + json.slice(from)
}
