/** A subscription that was deleted: when, and by which key. The audit trail keeps this for a limited time. */
import { Link } from '@tanstack/react-router'
import { operations } from '../../api/api-calls.ts'
import { useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'

const w = words.subscription
const DELETES = /^DELETE |:Unsubscribe$/

export function DeletedSubscription({ id }: { id: string }) {
  const audit = useRead(operations.listAudit, { query: { resource: id, limit: 100 } }, { everyMs: false })
  const deletion = audit.data?.entries.find(({ action, result }) => result === 'done' && DELETES.test(action))
  return (
    <>
      <PageHead title={w.gone} />
      {deletion ? (
        <p>
          {w.deleted} <When at={deletion.at} />
          {', '}
          {w.deletedBy} <code>{deletion.keyId}</code>.
        </p>
      ) : (
        !audit.isPending && <p className={css.quiet}>{audit.error ? w.deletionHidden : w.deletionUnknown}</p>
      )}
      <p>
        <Link to="/topics">{words.pages.topics}</Link>
      </p>
    </>
  )
}
