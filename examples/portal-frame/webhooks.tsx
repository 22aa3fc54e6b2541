/** The portal as a component. A link works once, so each time the component appears it asks for a new one. */
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

async function newLink(signal: AbortSignal): Promise<string> {
  const answer = await fetch('/portal-link', { method: 'POST', signal })
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
  const { url } = (await answer.json()) as { url: string }
  return url
}

export function Webhooks() {
  const [url, setUrl] = useState<string>()
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    const ended = new AbortController()
    newLink(ended.signal).then(setUrl, () => setBroken(!ended.signal.aborted))
    return () => ended.abort()
  }, [])
  if (isBroken) return <p role="alert">The webhooks cannot be shown at the moment.</p>
  if (url === undefined) return <p>Loading …</p>
  return <iframe src={url} title="Webhooks" referrerPolicy="no-referrer" />
}

const root = document.getElementById('webhooks')
if (root) createRoot(root).render(<Webhooks />)
