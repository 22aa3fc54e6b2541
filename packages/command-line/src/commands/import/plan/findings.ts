/** Findings of an import: what does not come over, and what comes over in another form. */
import { printable } from '@fantail/policy'
import type { CommandContext } from '../../../frame/command-context.ts'
import { counted } from '../../../output/text-table.ts'

/** Why a finding matters, the most important first. */
const MATTERS = {
  messages: 'Messages that would be missed',
  access: 'Access and encryption',
  requests: 'Requests and messages as others see them',
  delivery: 'Deliveries and retries',
  details: 'Everything else',
} as const

type Matter = keyof typeof MATTERS

export interface Finding {
  matter: Matter
  /** `lost`: it does not come over. `changed`: it comes over in another form. */
  what: 'lost' | 'changed'
  /** A sentence without a full stop. It is the same for all its objects. */
  text: string
  /** The remedy. */
  remedy?: string
  /** Names of what it concerns. Empty: everything. */
  objects: string[]
}

/** Collects findings. Those with the same text become one. */
export class Findings {
  readonly #found = new Map<string, Finding>()

  add(finding: Omit<Finding, 'objects'>, ...objects: string[]): void {
    const key = `${finding.what} ${finding.text}`
    const known = this.#found.get(key)
    if (known) known.objects.push(...objects)
    else this.#found.set(key, { ...finding, objects })
  }

  /** By their matter, losses first, then by the number of objects. */
  sorted(): Finding[] {
    const order = Object.keys(MATTERS)
    const rank = ({ matter, what }: Finding) => order.indexOf(matter) * 2 + (what === 'lost' ? 0 : 1)
    return [...this.#found.values()].sort((a, b) => rank(a) - rank(b) || b.objects.length - a.objects.length)
  }
}

/** Objects of a finding that people are shown. Past it: the number of the others stands for them. */
const OBJECTS_SHOWN_MAX = 3

export function showFindings({ out }: CommandContext, findings: readonly Finding[]): void {
  let matter: Matter | undefined
  for (const finding of findings) {
    if (finding.matter !== matter && !out.json && !out.quiet)
      out.line(out.style('bold', MATTERS[finding.matter]))
    matter = finding.matter
    out.item(
      finding,
      () => textOf(finding, (text) => out.style(finding.what === 'lost' ? 'red' : 'yellow', text)),
      finding.text,
    )
  }
}

/** For a command whose output is a document. */
export function warnOfFindings({ out }: CommandContext, findings: readonly Finding[]): void {
  for (const finding of findings) out.warn(textOf(finding, (text) => text))
}

function textOf({ what, text, remedy, objects }: Finding, styled: (text: string) => string): string {
  const shown = objects.slice(0, OBJECTS_SHOWN_MAX)
  const others = objects.length - shown.length
  const count = objects.length > 1 ? ` (${objects.length})` : ''
  return [
    `  ${styled(what.padEnd(8))} ${printable(text)}${count}`,
    ...shown.map((object) => `             ${printable(object)}`),
    ...(others > 0 ? [`             and ${counted(others, 'other')}`] : []),
    ...(remedy === undefined ? [] : [`           → ${printable(remedy)}`]),
  ].join('\n')
}
