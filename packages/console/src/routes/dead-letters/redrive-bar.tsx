/** The progress of a redrive or resend. */
import type { Redrive } from '@fantail/client/api'
import { words } from '../../i18n/en.ts'
import { TextInput } from '../../parts/fields.tsx'
import { formatNumber, nameOf } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'

const w = words.redrive

export function RedriveBar({ redrive }: { redrive: Redrive }) {
  const { matched, moved, skipped, action } = redrive
  const percent = matched === 0 ? 100 : Math.min(100, Math.round(((moved + skipped) / matched) * 100))
  const progress = action === 'resend' ? words.resend.progress : w.progress
  return (
    <div className={css.stack}>
      <p>
        {progress(percent, formatNumber(moved), formatNumber(matched))}
        {redrive.backInDlq > 0 && ` ${w.deadAgain(redrive.backInDlq, moved)}`}
      </p>
      <div
        className={css.bar}
        role="progressbar"
        aria-label={titleOf(redrive)}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ width: `${percent}%` }} />
      </div>
    </div>
  )
}

export function titleOf({ action, source }: Redrive): string {
  if (action === 'resend') return words.resend.of
  return action === 'purge' ? w.purgeOf(nameOf(source)) : w.of(nameOf(source))
}

interface RateInputProps {
  value: string
  onChange: (value: string) => void
  problem?: string | undefined
}

/** The rate of a redrive, in messages a second. Empty: there is no limit. */
export function RateInput(props: RateInputProps) {
  return <TextInput {...props} label={w.rate} hint={w.rateHint} type="number" min={0} step="any" />
}
