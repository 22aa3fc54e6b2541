/** Shows the portal in a frame. A link works once, so each time the page is shown it asks for a new one. */

/** @param {HTMLElement} place */
async function showPortal(place) {
  const answer = await fetch('/portal-link', { method: 'POST' })
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
  const { url } = await answer.json()
  const frame = document.createElement('iframe')
  frame.title = 'Webhooks'
  frame.referrerPolicy = 'no-referrer'
  frame.src = url
  place.replaceChildren(frame)
}

const place = document.getElementById('webhooks')
if (place)
  showPortal(place).catch(() => {
    place.textContent = 'The webhooks cannot be shown at the moment.'
  })

export {}
