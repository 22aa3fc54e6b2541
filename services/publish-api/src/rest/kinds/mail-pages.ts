/**
 * The pages that links in mails open. They are plain HTML without scripts. Every text that comes from a record or a
 * request is escaped. A page may post to its own address only, and nothing may show it in a frame.
 */
import type { Answer } from '../../http/endpoint.ts'

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}' +
  'button{font:inherit;padding:.5rem 1.5rem}code{overflow-wrap:anywhere}'

interface Page {
  title: string
  /** HTML. Texts in it are already escaped. */
  body: string
}

function pageOf(status: number, { title, body }: Page): Answer {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${body}
</body>
</html>
`
  return { status, text, headers: HEADERS }
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES.get(char) ?? char)
}

const paragraph = (text: string) => `<p>${escaped(text)}</p>`
const named = (text: string, name: string) => `<p>${escaped(text)}<br><code>${escaped(name)}</code></p>`
/** A form without an action posts to the URL of its page, and the query of this URL contains the token. */
const button = (label: string) =>
  `<form method="post"><button type="submit">${escaped(label)}</button></form>`

export function askToConfirmPage(topicArn: string, address: string): Answer {
  return pageOf(200, {
    title: 'Confirm your subscription',
    body: [
      named('You have chosen to subscribe to the topic:', topicArn),
      named('Its messages will go to:', address),
      button('Confirm subscription'),
      paragraph('If this was in error, close this page.'),
    ].join('\n'),
  })
}

export function confirmedPage(subscriptionArn: string, unsubscribeLink: string): Answer {
  return pageOf(200, {
    title: 'Subscription confirmed!',
    body: [
      paragraph('You have successfully subscribed.'),
      named("Your subscription's id is:", subscriptionArn),
      `<p>If it was not your intention to subscribe, <a href="${escaped(unsubscribeLink)}">click here to unsubscribe</a>.</p>`,
    ].join('\n'),
  })
}

export function askToUnsubscribePage(topicArn: string): Answer {
  return pageOf(200, {
    title: 'Unsubscribe',
    body: [named('You get messages of the topic:', topicArn), button('Unsubscribe')].join('\n'),
  })
}

export function removedPage(subscriptionArn: string): Answer {
  return pageOf(200, {
    title: 'Subscription removed!',
    body: named('This subscription gets no messages any more:', subscriptionArn),
  })
}

export function refusedPage(subscriptionArn: string): Answer {
  return pageOf(403, {
    title: 'Not removed',
    body: named('Only the owner of the topic can remove this subscription:', subscriptionArn),
  })
}

export function invalidLinkPage(): Answer {
  return pageOf(400, {
    title: 'This link is not valid',
    body: paragraph('It is incomplete, has expired, or was replaced by a newer one.'),
  })
}
