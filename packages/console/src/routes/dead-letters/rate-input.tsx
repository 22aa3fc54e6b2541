/** The rate of a redrive, in messages a second. Empty: there is no limit. */
import { words } from '../../i18n/en.ts'
import { TextInput } from '../../parts/fields.tsx'

interface RateInputProps {
  value: string
  onChange: (value: string) => void
  problem?: string | undefined
}

const w = words.redrive

export function RateInput(props: RateInputProps) {
  return <TextInput {...props} label={w.rate} hint={w.rateHint} type="number" min={0} step="any" />
}
