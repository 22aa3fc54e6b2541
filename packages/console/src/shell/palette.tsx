/** Goes to a page, or to a name, id or ARN that was typed or pasted. Ids and ARNs are recognised by their form. */
import type { FoundNames } from '@fantail/client/api'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useId, useState } from 'react'
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
  key: string
  to: string
  /** The whole address, if the target is a saved view. */
  href?: string
  search?: Record<string, string>
  label: string
  about: string
}

/** Names that the palette shows. Past it: only the best, and more words find the others. */
const NAMES_MAX = 10

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
  const { targets, sure, isCurrent } = useTargets(text.trim())
  // Enter was pressed before the names were found.
  const [isAwaited, setAwaited] = useState(false)
  const selected = Math.min(at, targets.length - 1)
  const go = (target: Target | undefined) => {
    if (!target) return
    onClose()
    if (target.href === undefined) void navigate({ to: target.to, search: target.search ?? {} })
    else router.history.push(target.href)
  }
  const isReady = (index: number) => isCurrent || (index >= 0 && index < sure)
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter') isReady(selected) ? go(targets[selected]) : setAwaited(true)
    else if (event.key === 'ArrowDown') setAt(Math.min(selected + 1, targets.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(selected - 1, 0))
    else return
    event.preventDefault()
  }
  const typed = (value: string) => {
    setText(value)
    setAt(0)
    setAwaited(false)
  }
  useEffect(() => {
    if (!isAwaited || !isCurrent) return
    setAwaited(false)
    go(targets[selected])
  })
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field inside
    <div onKeyDown={onKeyDown}>
      <TextInput label={words.palette.label} value={text} onChange={typed} autoFocus controls={list} />
      <div className={css.results} id={list} role="listbox" aria-label={words.palette.title}>
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={target.key}
            role="option"
            tabIndex={-1}
            aria-selected={index === selected}
            aria-disabled={!isReady(index)}
            onClick={() => isReady(index) && go(target)}
          >
            {target.label} <small>{target.about}</small>
          </div>
        ))}
      </div>
      <p className={css.light} aria-live="polite">
        {isCurrent ? targets.length === 0 && words.palette.nothing : words.palette.looking}
      </p>
    </div>
  )
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Time after the last key before names are searched. */
const SETTLE_MS = 150

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

interface Targets {
  targets: Target[]
  /** So many of the first targets surely fit the text. */
  sure: number
  /** False: the names are those of an earlier text, until those of the present one are found. */
  isCurrent: boolean
}

function useTargets(text: string): Targets {
  const formed = byForm(text)
  const isName = formed.length === 0 && text !== ''
  const settled = useSettled(text)
  const query = { text: settled, limit: NAMES_MAX }
  const isAsked = isName && settled !== ''
  const read = useRead(operations.findByName, { query }, { enabled: isAsked, everyMs: false })
  const includes = (label: string) => label.toLowerCase().includes(text.toLowerCase())
  const pages: Target[] = GO_TO.map(({ to, page }) => ({ key: to, to, label: words.pages[page], about: '' }))
  const views = useSavedViews().map(({ name, path }): Target => {
    return { key: `view ${name}`, to: path, href: path, label: name, about: words.views.view }
  })
  const known = [...views, ...pages].filter(({ label }) => includes(label))
  if (!isName) return { targets: [...formed, ...known], sure: 0, isCurrent: true }
  const isCurrent = settled === text && !read.isPlaceholderData && !read.isFetching
  const named = (read.data?.found ?? []).map(namedTarget)
  return { targets: [...known, ...named, sayingTarget(text)], sure: known.length, isCurrent }
}

function namedTarget({ kind, id, name, topic, host }: FoundNames['found'][number]): Target {
  const key = `${kind} ${id}`
  switch (kind) {
    case 'topic':
      return topicTarget(id)
    case 'queue':
      return queueTarget(id)
    case 'key':
      return { key, to: '/access', label: name ?? id, about: words.palette.key }
    case 'subscription': {
      const about = [words.subscriptionOf(topic ?? ''), name === null ? null : host]
        .filter(Boolean)
        .join(', ')
      return { key, to: `/subs/${id}`, label: name ?? host ?? id, about }
    }
  }
}

/** The search of what messages say. It comes last, because the palette knows names only. */
const sayingTarget = (text: string): Target => ({
  key: 'says',
  to: '/messages',
  search: { by: 'content', text },
  label: words.palette.says(text),
  about: words.content.tab,
})

const topicTarget = (name: string): Target => {
  return { key: `topic ${name}`, to: `/topics/${name}`, label: name, about: words.pages.topic }
}
const queueTarget = (name: string): Target => {
  return { key: `queue ${name}`, to: `/queues/${name}`, label: name, about: words.pages.queue }
}

/** The pages that an id or an ARN may belong to. An id does not show what it names. */
function byForm(text: string): Target[] {
  if (UUID.test(text)) {
    return [
      { key: 'message', to: `/messages/${text}`, label: text, about: words.pages.messages },
      { key: 'subscription', to: `/subs/${text}`, label: text, about: words.pages.subscription },
      { key: 'redrive', to: `/redrives/${text}`, label: text, about: words.pages.redrive },
    ]
  }
  const [, , service, , , name = '', subscription] = text.split(':')
  if (!text.startsWith('arn:')) return []
  if (service === 'sqs') return [queueTarget(name)]
  if (service !== 'sns') return []
  if (subscription === undefined) return [topicTarget(name)]
  return [
    {
      key: 'subscription',
      to: `/subs/${subscription}`,
      label: subscription,
      about: words.pages.subscription,
    },
  ]
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
