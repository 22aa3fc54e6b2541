/** The fields of an endpoint that a customer fills in: name and rate, and the address beside them. */
import type { PortalEndpoint } from '@fantail/client/api'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { TextInput } from '../../parts/fields.tsx'
import { type Field, fieldProblem } from './trouble.tsx'

interface SettingsDraft {
  name: string
  /** Messages a second; '': no bound of the customer's own. */
  rate: string
}

/** Fields that show their own problems. */
export const SETTING_FIELDS: readonly Field[] = ['name', 'maxPerSecond']

export const NO_SETTINGS: SettingsDraft = { name: '', rate: '' }

export function draftOf({ name, maxPerSecond }: PortalEndpoint): SettingsDraft {
  return { name: name ?? '', rate: maxPerSecond === null ? '' : String(maxPerSecond) }
}

interface Settings {
  name: string | null
  maxPerSecond: number | null
}

export function settingsOf({ name, rate }: SettingsDraft): Settings {
  return {
    name: name.trim() || null,
    maxPerSecond: rate === '' ? null : Number(rate),
  }
}

export function isComplete({ rate }: SettingsDraft): boolean {
  return isRate(rate)
}

/** From 1 on the API takes whole numbers only. */
const RATE_MIN = 0.001

function isRate(rate: string): boolean {
  const value = Number(rate)
  return rate === '' || (value >= RATE_MIN && (value < 1 || Number.isSafeInteger(value)))
}

interface Props {
  /** Messages a second that the service sends at most; null: unlimited, or not known. */
  serviceRate: number | null
  draft: SettingsDraft
  onChange: (draft: SettingsDraft) => void
  error: unknown
}

export function SettingsFields({ serviceRate, draft, onChange, error }: Props) {
  const { form, problems } = useLanguage().words
  const { name, rate } = draft
  return (
    <>
      <TextInput
        label={form.name}
        hint={form.nameHint}
        value={name}
        onChange={(next) => onChange({ ...draft, name: next })}
        problem={fieldProblem(problems, error, 'name')}
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
