/**
 * The open endpoint. The history keeps it, so the browser’s Back button leads to the list. The address stays the same,
 * because after a reload the session is gone and no address could open anything.
 */
import { useEffect, useState } from 'react'

type Place = [endpoint: string | undefined, go: (endpoint: string | undefined) => void]

export function usePlace(): Place {
  const [endpoint, setEndpoint] = useState(inHistory)
  useEffect(() => {
    const follow = () => setEndpoint(inHistory())
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const go = (next: string | undefined) => {
    history.pushState({ endpoint: next }, '')
    setEndpoint(next)
  }
  return [endpoint, go]
}

function inHistory(): string | undefined {
  return (history.state as { endpoint?: string } | null)?.endpoint
}
