/**
 * Certificates with which subscribers verify signatures. Everybody may read them, as in SNS. A certificate never
 * changes under its name.
 */
import { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'

const HEADERS = { 'Content-Type': 'application/x-pem-file', 'Cache-Control': 'public, max-age=86400' }

const CertificateName = z
  .string()
  .describe('Name of the certificate: 32 hex digits, as `SigningCertURL` has it.')

export function certificateRoutes({ certificates }: Pick<ApiDeps, 'certificates'>): Endpoint[] {
  return [
    endpoint({
      id: 'getSigningCertificate',
      method: 'GET',
      path: '/SimpleNotificationService-{name}.pem',
      params: { name: CertificateName },
      where: { name: '[0-9a-f]{32}' },
      tag: 'AWS',
      summary: 'Get a certificate that messages are signed with',
      description:
        '`SigningCertURL` of signed messages names it. A certificate never changes under its name, so it may be cached.',
      answers: { 200: { description: 'X.509 in PEM', contentType: HEADERS['Content-Type'] } },
      errors: ['not_found'],
      handle: async ({ params }) => {
        const text = await certificates.certificate(params.name ?? '')
        if (text === null) throw notFound('certificate')
        return { status: 200, text, headers: HEADERS }
      },
    }),
  ]
}
