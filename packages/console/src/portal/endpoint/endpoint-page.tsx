/** The page of one endpoint: how it stands, what can be done, its week, its messages and its settings. */
import { type CreatedPortalSession, getPortalEndpoint, type PortalEndpoint } from '@fantail/client/api'
import { useRead } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import { Empty } from '../../parts/states.tsx'
import own from '../pieces/portal.module.css'
import { SecretOnce } from '../pieces/secret-once.tsx'
import { Shown, StateBadge, Title } from '../pieces/shown.tsx'
import { Actions } from './endpoint-actions.tsx'
import { Settings } from './endpoint-settings.tsx'
import { Standing } from './endpoint-standing.tsx'
import { MessageList } from './message-list.tsx'
import { Signing } from './signing.tsx'
import { Week } from './week.tsx'

interface Props {
  id: string
  session: CreatedPortalSession
  /** A signing secret of this endpoint that was made just now. */
  secret: string | undefined
  onSecret: (secret: string | undefined) => void
  onBack: () => void
  onDeleted: () => void
}

export function EndpointPage({ id, onBack, ...props }: Props) {
  const { actions } = useLanguage().words
  const read = useRead(getPortalEndpoint, { path: { id } })
  return (
    <>
      <div>
        <Button kind="plain" onPress={onBack}>
          <span aria-hidden="true">←</span> {actions.back}
        </Button>
      </div>
      <Shown read={read} gone={<Gone />}>
        {(endpoint) => <Page {...props} endpoint={endpoint} />}
      </Shown>
    </>
  )
}

function Gone() {
  const { actions } = useLanguage().words
  return (
    <div className={css.frame}>
      <Empty title={actions.gone}>
        <p>{actions.goneWhy}</p>
      </Empty>
    </div>
  )
}

type PageProps = Omit<Props, 'id' | 'onBack'> & { endpoint: PortalEndpoint }

function Page({ endpoint, session: { scopes }, secret, onSecret, onDeleted }: PageProps) {
  const mayManage = scopes.includes('manage')
  return (
    <>
      <div className={own.top}>
        <Title isArrival>{endpoint.name ?? endpoint.endpoint}</Title>
        <StateBadge state={endpoint.state} />
        {mayManage && <Actions endpoint={endpoint} onDeleted={onDeleted} />}
      </div>
      {secret !== undefined && <SecretOnce secret={secret} onStored={() => onSecret(undefined)} />}
      <Standing endpoint={endpoint} />
      <Week id={endpoint.id} />
      <div className={own.split}>
        <MessageList
          id={endpoint.id}
          mayResend={scopes.includes('redrive')}
          seesBodies={scopes.includes('bodies')}
        />
        <div className={css.stack}>
          <Settings endpoint={endpoint} mayManage={mayManage} />
          {mayManage && <Signing id={endpoint.id} onSecret={onSecret} />}
        </div>
      </div>
    </>
  )
}
