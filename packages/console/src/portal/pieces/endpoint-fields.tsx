/** The fields of an endpoint that a customer fills in: name, event types and rate, and the address beside them. */
import type { PortalEndpoint } from '@fantail/client/api'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { TextInput } from '../../parts/fields.tsx'
import { type Field, fieldProblem } from './trouble.tsx'
import { TypeChoice } from './type-choice.tsx'

interface SettingsDraft {
  name: string
  /** null: all events. */
  types: readonly string[] | null
  /** Messages a second; '': no bound of the customer's own. */
  rate: string
}

/** Fields that show their own problems. */
export const SETTING_FIELDS: readonly Field[] = ['name', 'eventTypes', 'maxPerSecond']

export const NO_SETTINGS: SettingsDraft = { name: '', types: null, rate: '' }

export function draftOf({ name, eventTypes, maxPerSecond }: PortalEndpoint): SettingsDraft {
  return { name: name ?? '', types: eventTypes, rate: maxPerSecond === null ? '' : String(maxPerSecond) }
}

interface Settings {
  name: string | null
  eventTypes: string[] | null
  maxPerSecond: number | null
}

export function settingsOf({ name, types, rate }: SettingsDraft): Settings {
  return {
    name: name.trim() || null,
    eventTypes: types && [...types],
    maxPerSecond: rate === '' ? null : Number(rate),
  }
}

export function isComplete({ types, rate }: SettingsDraft): boolean {
  return types?.length !== 0 && isRate(rate)
}

/** From 1 on the API takes whole numbers only. */
const RATE_MIN = 0.001

function isRate(rate: string): boolean {
  const value = Number(rate)
  return rate === '' || (value >= RATE_MIN && (value < 1 || Number.isSafeInteger(value)))
}

interface Props {
  topic: string
  /** Messages a second that the service sends at most; null: unlimited, or not known. */
  serviceRate: number | null
  draft: SettingsDraft
  onChange: (draft: SettingsDraft) => void
  error: unknown
}

export function SettingsFields({ topic, serviceRate, draft, onChange, error }: Props) {
  const { form, problems } = useLanguage().words
  const { name, types, rate } = draft
  return (
    <>
      <TextInput
        label={form.name}
        hint={form.nameHint}
        value={name}
        onChange={(next) => onChange({ ...draft, name: next })}
        problem={fieldProblem(problems, error, 'name')}
      />
      <TypeChoice
        topic={topic}
        chosen={types}
        onChange={(next) => onChange({ ...draft, types: next })}
        problem={fieldProblem(problems, error, 'eventTypes')}
      />
      <TextInput
        label={form.rate}
        hint={serviceRate === null ? form.rateHint : form.rateHintMax(serviceRate)}
        type="number"
        min={0}
        step="any"
        value={rate}
        onChange={(next) => onChange({ ...draft, rate: next })}
        problem={isRate(rate) ? fieldProblem(problems, error, 'maxPerSecond') : problems.fields.maxPerSecond}
      />
    </>
  )
}

interface AddressProps {
  value: string
  onChange: (value: string) => void
  error: unknown
  hint?: string
}

export function AddressField({ value, onChange, error, hint }: AddressProps) {
  const { form, problems } = useLanguage().words
  return (
    <TextInput
      label={form.address}
      hint={hint ?? form.addressHint}
      type="url"
      value={value}
      onChange={onChange}
      placeholder={ADDRESS_EXAMPLE}
      isRequired
      autoFocus
      problem={fieldProblem(problems, error, 'endpoint')}
    />
  )
}

/** An address is no word of a language. */
const ADDRESS_EXAMPLE = 'https://example.com/webhooks'
