/** The operations of the API that the portal calls, and their answers. */
export type {
  CreatedPortalSession,
  PortalAttemptList,
  PortalDeadLetterList,
  PortalDeliveryList,
  PortalEndpoint,
} from '@fantail/client/api'
export {
  addPortalEndpoint,
  deletePortalEndpoint,
  endPortalSession,
  listPortalAttempts,
  listPortalDeadLetters,
  listPortalDeliveries,
  listPortalEndpoints,
  listPortalTopics,
  pausePortalEndpoint,
  redeemPortalLink,
  redrivePortalEndpoint,
  resumePortalEndpoint,
  rotatePortalKey,
  testPortalEndpoint,
} from '@fantail/client/api'
