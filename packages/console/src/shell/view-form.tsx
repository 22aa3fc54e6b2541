/** Saves the page with its filters under a name, and forgets saved views. */
import { useState } from 'react'
import { words } from '../i18n/en.ts'
import { Button } from '../parts/button.tsx'
import { TextInput } from '../parts/fields.tsx'
import css from '../parts/parts.module.css'
import { forgetView, saveView, useSavedViews } from './saved-views.ts'

const w = words.views

export function ViewForm() {
  const [name, setName] = useState('')
  const views = useSavedViews()
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    saveView({ name: name.trim(), path: `${location.pathname}${location.search}` })
    setName('')
  }
  return (
    <>
      <form className={css.fields} onSubmit={submit}>
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
