/** Goes to a page, or to a name, id or ARN that was typed or pasted. Ids and ARNs are recognised by their form. */
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { operations } from '../api/api-calls.ts'
import { useRead } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { TextInput } from '../parts/fields.tsx'
import parts from '../parts/parts.module.css'
import css from './frame.module.css'
import { forgetView, saveView, useSavedViews } from './saved-views.ts'
import { GO_TO } from './shortcuts.ts'

interface Target {
  to: string
  /** The whole address, if the target is a saved view. */
  href?: string
  label: string
  about: string
}

/** Names of one kind that the palette shows. Past it: only the first ones, and a longer name finds the others. */
const NAMES_MAX = 6

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title={words.palette.title} isOpen={isOpen} onClose={onClose}>
      <Search onClose={onClose} />
      <ViewForm />
    </Dialog>
  )
}

function Search({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const navigate = useNavigate()
  const router = useRouter()
  const targets = useTargets(text.trim())
  const selected = Math.min(at, targets.length - 1)
  const go = (target: Target | undefined) => {
    if (!target) return
    onClose()
    if (target.href === undefined) void navigate({ to: target.to })
    else router.history.push(target.href)
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter') go(targets[selected])
    else if (event.key === 'ArrowDown') setAt(Math.min(selected + 1, targets.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, 0))
    else return
    event.preventDefault()
  }
  const typed = (value: string) => {
    setText(value)
    setAt(0)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field inside
    <div onKeyDown={onKeyDown}>
      <TextInput label={words.palette.label} value={text} onChange={typed} autoFocus controls={list} />
      <div className={css.results} id={list} role="listbox" aria-label={words.palette.title}>
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={target.to}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            onClick={() => go(target)}
          >
            {target.label} <small>{target.about}</small>
          </div>
        ))}
      </div>
      <p className={css.light} aria-live="polite">
        {targets.length === 0 && words.palette.nothing}
      </p>
    </div>
  )
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function useTargets(text: string): Target[] {
  const named = byForm(text)
  const isName = named.length === 0 && /^[\w.-]+$/.test(text)
  const query = { prefix: text, limit: NAMES_MAX }
  const options = { enabled: isName, everyMs: false } as const
  const topics = useRead(operations.listTopics, { query }, options).data?.topics ?? []
  const queues = useRead(operations.listQueues, { query }, options).data?.queues ?? []
  const pages = GO_TO.map(({ to, page }) => ({ to, label: words.pages[page], about: '' })).filter(
    ({ label }) => label.toLowerCase().includes(text.toLowerCase()),
  )
  const views = useSavedViews()
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .map(({ name, path }) => ({ to: `view ${name}`, href: path, label: name, about: words.views.view }))
  if (!isName) return [...named, ...views, ...(text === '' ? pages : [])]
  const starts = ({ name }: { name: string }) => name.startsWith(text)
  return [
    ...views,
    ...pages,
    ...topics.filter(starts).map(({ name }) => topicTarget(name)),
    ...queues.filter(starts).map(({ name }) => queueTarget(name)),
  ]
}

const topicTarget = (name: string) => ({ to: `/topics/${name}`, label: name, about: words.pages.topic })
const queueTarget = (name: string) => ({ to: `/queues/${name}`, label: name, about: words.pages.queue })

/** The pages that an id or an ARN may belong to. An id does not show what it names. */
function byForm(text: string): Target[] {
  if (UUID.test(text)) {
    return [
      { to: `/messages/${text}`, label: text, about: words.pages.messages },
      { to: `/subs/${text}`, label: text, about: words.pages.subscription },
      { to: `/redrives/${text}`, label: text, about: words.pages.redrive },
    ]
  }
  const [, , service, , , name = '', subscription] = text.split(':')
  if (!text.startsWith('arn:')) return []
  if (service === 'sqs') return [queueTarget(name)]
  if (service !== 'sns') return []
  if (subscription === undefined) return [topicTarget(name)]
  return [{ to: `/subs/${subscription}`, label: subscription, about: words.pages.subscription }]
}

const w = words.views

/** Saves the page with its filters under a name, and forgets saved views. */
function ViewForm() {
  const [name, setName] = useState('')
  const views = useSavedViews()
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    saveView({ name: name.trim(), path: `${location.pathname}${location.search}` })
    setName('')
  }
  return (
    <>
      <form className={parts.fields} onSubmit={submit}>
        <TextInput label={w.save} hint={w.saveHint} value={name} onChange={setName} />
        <Button type="submit" isDisabled={name.trim() === ''}>
          {words.save}
        </Button>
      </form>
      {views.length > 0 && (
        <ul aria-label={w.saved}>
          {views.map((view) => (
            <li key={view.name}>
              {view.name}{' '}
              <Button kind="plain" aria-label={w.forget(view.name)} onPress={() => forgetView(view.name)}>
                {w.forgetShort}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
