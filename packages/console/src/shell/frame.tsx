/** The frame of every screen: navigation, status light, theme, palette, keys. */
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { operations } from '../api/api-calls.ts'
import type { Connection } from '../api/liveness.ts'
import { togglePause, useConnection, usePaused, useRead } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { formatSeconds } from '../parts/formats.ts'
import { scrollIntoRow } from '../parts/motion.tsx'
import { useNow } from '../parts/show.tsx'
import css from './frame.module.css'
import { Palette } from './palette.tsx'
import { LogOut } from './session-gate.tsx'
import { GO_TO, useShortcuts } from './shortcuts.ts'
import { nextTheme, useTheme } from './theme.ts'

const TITLES = new Map<string, string>([...GO_TO.map(({ to, page }) => [to, words.pages[page]] as const)])

export function Frame() {
  const [open, setOpen] = useState<'palette' | 'help'>()
  const navigate = useNavigate()
  const shortcuts = useMemo(
    () => ({
      goTo: (to: string) => void navigate({ to }),
      openPalette: () => setOpen('palette'),
      openHelp: () => setOpen('help'),
      togglePause,
    }),
    [navigate],
  )
  useShortcuts(shortcuts)
  const nav = useNewPage()
  const close = () => setOpen(undefined)
  return (
    <div className={css.frame}>
      <a className={css.skip} href="#main">
        {words.skipToContent}
      </a>
      <header className={css.top}>
        <Link to="/" className={css.brand}>
          <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
            <path d="M2 14 8 2l6 12-6-4z" fill="currentColor" />
          </svg>
          {words.product}
        </Link>
        <nav ref={nav} className={css.nav} aria-label={words.shell.navigation}>
          {GO_TO.map(({ to, page }) => (
            <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
              {words.pages[page]}
            </Link>
          ))}
        </nav>
        <Tools openPalette={shortcuts.openPalette} openHelp={shortcuts.openHelp} />
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Palette isOpen={open === 'palette'} onClose={close} />
      <Dialog title={words.keys.title} isOpen={open === 'help'} onClose={close}>
        <KeyList />
      </Dialog>
    </div>
  )
}

function Tools({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }) {
  const theme = useTheme()
  const isPaused = usePaused()
  return (
    <div className={css.tools}>
      {isPaused && <span className="unseen">{words.shell.paused}</span>}
      <RedriveLight />
      <StatusLight />
      <LogOut />
      <button type="button" className={css.tool} onClick={openPalette}>
        {words.shell.search} <kbd>Ctrl K</kbd>
      </button>
      <button type="button" className={css.tool} onClick={nextTheme} aria-label={words.shell.theme[theme]}>
        <span aria-hidden="true">{theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◐'}</span>
      </button>
      <button type="button" className={css.tool} onClick={openHelp} aria-label={words.shell.keysHelp}>
        <span aria-hidden="true">?</span>
      </button>
    </div>
  )
}

/**
 * Sets the title of a new page, before the page sets a better one. Screen readers read the title. In a narrow window
 * the navigation is scrolled to the page.
 */
function useNewPage() {
  const nav = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useLayoutEffect(() => {
    const parts = path.split('/').filter(Boolean)
    const page = TITLES.get(`/${parts[0] ?? ''}`) ?? words.pages.overview
    const rest = parts.slice(1).map(decodeURIComponent)
    document.title = [...rest.toReversed(), page, words.product].join(' · ')
    scrollIntoRow(nav.current?.querySelector('[data-status="active"]'))
  }, [path])
  return nav
}

function KeyList() {
  const lines: [string[], string][] = [
    [['Ctrl', 'K'], words.keys.palette],
    [['?'], words.keys.help],
    [['/'], words.keys.filter],
    [['j', 'k'], words.keys.rows],
    [['Enter'], words.keys.open],
    [['p'], words.keys.pause],
    [['Esc'], words.keys.back],
    ...GO_TO.map(({ key, page }): [string[], string] => [['g', key], words.keys.goTo(words.pages[page])]),
  ]
  return (
    <dl className={css.help}>
      {lines.map(([keys, meaning]) => [
        <dt key={meaning}>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </dt>,
        <dd key={`${meaning}=`}>{meaning}</dd>,
      ])}
    </dl>
  )
}

const HEARTBEAT_MS = 5_000

/** How current the page is, in words and by colour. */
function StatusLight() {
  // The heartbeat, because some screens send no requests.
  useRead(operations.getReadiness, {}, { everyMs: HEARTBEAT_MS })
  const connection = useConnection()
  const isPaused = usePaused()
  const now = useNow()
  const state = isPaused && connection.state === 'live' ? 'paused' : connection.state
  return (
    <span className={css.light} data-state={state} role="status">
      <span aria-hidden="true" className={css.lamp} />
      {state === 'paused' ? words.status.paused : textOf(connection, now)}
    </span>
  )
}

function textOf(connection: Connection, now: number): string {
  if (connection.state !== 'stale') return words.status[connection.state]
  const { since } = connection
  if (since === undefined) return words.status.silent
  return words.status.stale(formatSeconds(Math.max(1, Math.round((now - since) / 1_000))))
}

/**
 * The progress of a running redrive or purge, on every page. The task continues when its page is closed. That page and
 * this light show the same read.
 */
function RedriveLight() {
  const { data } = useRead(operations.listRedrives, { query: { status: 'running', limit: 1 } })
  const [first] = data?.redrives ?? []
  const one = useRead(
    operations.getRedrive,
    { path: { id: first?.id ?? '' } },
    { enabled: first !== undefined },
  )
  const task = first && one.data?.id === first.id ? one.data : first
  if (!task || task.endedAt !== null) return null
  const { id, action, matched, moved, skipped } = task
  const percent = matched === 0 ? 100 : Math.min(100, Math.round(((moved + skipped) / matched) * 100))
  return (
    <Link to="/redrives/$id" params={{ id }} className={css.tool}>
      {words.redrive.light(words.redrive.lights[action], percent)}
    </Link>
  )
}
