import { VerifyError, verifyWebhook } from '@fantail/client'

/** Ids of messages that were handled. A real service keeps them in its database, in the transaction of the work. */
const handled = new Set<string>()

export async function POST(request: Request): Promise<Response> {
  try {
    const event = await verifyWebhook(request, { keys: [process.env.WEBHOOK_KEY ?? ''] })
    if (!handled.has(event.messageId)) {
      handled.add(event.messageId)
      console.log('received', event.message)
    }
    return new Response(null, { status: 204 })
  } catch (error) {
    // Without a 2xx Fantail sends the message again. A wrong signature stays wrong, so it gets a 401, which is not
    // retried.
    if (error instanceof VerifyError) return new Response(error.code, { status: 401 })
    throw error
  }
}
