// Generated from the OpenAPI document. Do not edit: `npm run generate` writes this file.

import { type Client, type ClientMeta, type Options as Options2, type RequestResult, type ServerSentEventsResult, type TDataShape, urlSearchParamsBodySerializer } from './client/index.ts';
import type { AcknowledgeMessagesData, AcknowledgeMessagesErrors, AcknowledgeMessagesResponses, AddPortalEndpointData, AddPortalEndpointErrors, AddPortalEndpointResponses, CallAwsData, CallAwsErrors, CallAwsQueueByLinkData, CallAwsQueueByLinkErrors, CallAwsQueueByLinkResponses, CallAwsQueueData, CallAwsQueueErrors, CallAwsQueueResponses, CallAwsResponses, CancelBulkTaskData, CancelBulkTaskErrors, CancelBulkTaskResponses, CancelRedriveData, CancelRedriveErrors, CancelRedriveResponses, ChangePortalEndpointData, ChangePortalEndpointErrors, ChangePortalEndpointResponses, ChangeSmsData, ChangeSmsErrors, ChangeSmsResponses, ChangeVisibilityData, ChangeVisibilityErrors, ChangeVisibilityResponses, CheckEndpointsData, CheckEndpointsErrors, CheckEndpointsResponses, CheckEventSchemaData, CheckEventSchemaErrors, CheckEventSchemaResponses, ConfirmByLinkData, ConfirmByLinkErrors, ConfirmByLinkResponses, ConfirmSubscriptionData, ConfirmSubscriptionErrors, ConfirmSubscriptionResponses, CountDeadLettersData, CountDeadLettersErrors, CountDeadLettersResponses, CreateKeyData, CreateKeyErrors, CreateKeyResponses, CreatePlatformEndpointData, CreatePlatformEndpointErrors, CreatePlatformEndpointResponses, CreatePortalLinkData, CreatePortalLinkErrors, CreatePortalLinkResponses, CreatePushConsumerData, CreatePushConsumerErrors, CreatePushConsumerResponses, CreateQueueData, CreateQueueErrors, CreateQueueResponses, CreateTopicData, CreateTopicErrors, CreateTopicResponses, CreateWebhookKeyData, CreateWebhookKeyErrors, CreateWebhookKeyResponses, DeleteEventTypeData, DeleteEventTypeErrors, DeleteEventTypeResponses, DeletePlatformApplicationData, DeletePlatformApplicationErrors, DeletePlatformApplicationResponses, DeletePlatformEndpointData, DeletePlatformEndpointErrors, DeletePlatformEndpointResponses, DeletePortalEndpointData, DeletePortalEndpointErrors, DeletePortalEndpointResponses, DeletePushConsumerData, DeletePushConsumerErrors, DeletePushConsumerResponses, DeleteQuarantineEntryData, DeleteQuarantineEntryErrors, DeleteQuarantineEntryResponses, DeleteQueueData, DeleteQueueErrors, DeleteQueueMessageData, DeleteQueueMessageErrors, DeleteQueueMessageResponses, DeleteQueueResponses, DeleteQuotaData, DeleteQuotaErrors, DeleteQuotaResponses, DeleteSubscriptionData, DeleteSubscriptionErrors, DeleteSubscriptionResponses, DeleteTopicData, DeleteTopicErrors, DeleteTopicResponses, DeleteWebhookKeysData, DeleteWebhookKeysErrors, DeleteWebhookKeysResponses, EndPortalSessionData, EndPortalSessionErrors, EndPortalSessionResponses, EndSessionData, EndSessionErrors, EndSessionResponses, ExportQuarantineEntryData, ExportQuarantineEntryErrors, ExportQuarantineEntryResponses, FindByNameData, FindByNameErrors, FindByNameResponses, FollowAwsLinkData, FollowAwsLinkErrors, FollowAwsLinkResponses, GetBulkTaskData, GetBulkTaskErrors, GetBulkTaskResponses, GetDocsPageData, GetDocsPageErrors, GetDocsPageResponses, GetDocsRendererData, GetDocsRendererErrors, GetDocsRendererResponses, GetDocsScriptData, GetDocsScriptErrors, GetDocsScriptResponses, GetEventTypeData, GetEventTypeErrors, GetEventTypeResponses, GetHealthData, GetHealthErrors, GetHealthResponses, GetKeyData, GetKeyErrors, GetKeyResponses, GetMessageBodyData, GetMessageBodyErrors, GetMessageBodyResponses, GetMessageData, GetMessageErrors, GetMessageResponses, GetMetricsData, GetMetricsErrors, GetMetricsResponses, GetOpenApiDocumentData, GetOpenApiDocumentErrors, GetOpenApiDocumentResponses, GetOptOutData, GetOptOutErrors, GetOptOutResponses, GetOverviewData, GetOverviewErrors, GetOverviewResponses, GetPlatformApplicationData, GetPlatformApplicationErrors, GetPlatformApplicationResponses, GetPlatformEndpointData, GetPlatformEndpointErrors, GetPlatformEndpointResponses, GetPortalEndpointData, GetPortalEndpointErrors, GetPortalEndpointResponses, GetPortalEventTypeData, GetPortalEventTypeErrors, GetPortalEventTypeResponses, GetPortalMessageData, GetPortalMessageErrors, GetPortalMessageResponses, GetPortalSessionData, GetPortalSessionErrors, GetPortalSessionResponses, GetPortalStatsData, GetPortalStatsErrors, GetPortalStatsResponses, GetPushConsumerData, GetPushConsumerErrors, GetPushConsumerResponses, GetQueueData, GetQueueErrors, GetQueueMessageData, GetQueueMessageErrors, GetQueueMessageResponses, GetQueueResponses, GetQuotaData, GetQuotaErrors, GetQuotaResponses, GetReadinessData, GetReadinessErrors, GetReadinessResponses, GetRedriveData, GetRedriveErrors, GetRedriveResponses, GetSessionData, GetSessionErrors, GetSessionResponses, GetSigningCertificateData, GetSigningCertificateErrors, GetSigningCertificateResponses, GetSmsData, GetSmsErrors, GetSmsResponses, GetStatsData, GetStatsErrors, GetStatsResponses, GetSubscriptionData, GetSubscriptionErrors, GetSubscriptionResponses, GetTopicData, GetTopicDocumentData, GetTopicDocumentErrors, GetTopicDocumentResponses, GetTopicErrors, GetTopicResponses, ImportBouncesData, ImportBouncesErrors, ImportBouncesResponses, ImportEventTypesData, ImportEventTypesErrors, ImportEventTypesResponses, ListAttemptsData, ListAttemptsErrors, ListAttemptsResponses, ListAuditData, ListAuditErrors, ListAuditResponses, ListBulkTasksData, ListBulkTasksErrors, ListBulkTasksResponses, ListDeliveriesData, ListDeliveriesErrors, ListDeliveriesResponses, ListDeliveryAttemptsData, ListDeliveryAttemptsErrors, ListDeliveryAttemptsResponses, ListenToEventsData, ListenToEventsErrors, ListenToEventsResponse, ListenToEventsResponses, ListEventTypesData, ListEventTypesErrors, ListEventTypesResponses, ListKeysData, ListKeysErrors, ListKeysResponses, ListLanesData, ListLanesErrors, ListLanesResponses, ListOptOutsData, ListOptOutsErrors, ListOptOutsResponses, ListPlatformApplicationsData, ListPlatformApplicationsErrors, ListPlatformApplicationsResponses, ListPlatformEndpointsData, ListPlatformEndpointsErrors, ListPlatformEndpointsResponses, ListPortalAttemptsData, ListPortalAttemptsErrors, ListPortalAttemptsResponses, ListPortalDeadLettersData, ListPortalDeadLettersErrors, ListPortalDeadLettersResponses, ListPortalEndpointsData, ListPortalEndpointsErrors, ListPortalEndpointsResponses, ListPortalEventTypesData, ListPortalEventTypesErrors, ListPortalEventTypesResponses, ListPortalMessagesData, ListPortalMessagesErrors, ListPortalMessagesResponses, ListPortalTopicsData, ListPortalTopicsErrors, ListPortalTopicsResponses, ListPushConsumersData, ListPushConsumersErrors, ListPushConsumersResponses, ListQuarantineData, ListQuarantineErrors, ListQuarantineResponses, ListQueuesData, ListQueuesErrors, ListQueuesResponses, ListQuotasData, ListQuotasErrors, ListQuotasResponses, ListRedrivesData, ListRedrivesErrors, ListRedrivesResponses, ListServicesData, ListServicesErrors, ListServicesResponses, ListSessionsData, ListSessionsErrors, ListSessionsResponses, ListSubscriptionsData, ListSubscriptionsErrors, ListSubscriptionsResponses, ListSuppressionsData, ListSuppressionsErrors, ListSuppressionsResponses, ListTopicsData, ListTopicsErrors, ListTopicsResponses, ListTopicSubscriptionsData, ListTopicSubscriptionsErrors, ListTopicSubscriptionsResponses, ListWebhookKeysData, ListWebhookKeysErrors, ListWebhookKeysResponses, LogInData, LogInErrors, LogInResponses, LogOutData, LogOutErrors, LogOutResponses, OptInData, OptInErrors, OptInResponses, OptOutData, OptOutErrors, OptOutResponses, PausePortalEndpointData, PausePortalEndpointErrors, PausePortalEndpointResponses, PauseRedriveData, PauseRedriveErrors, PauseRedriveResponses, PauseSubscriptionData, PauseSubscriptionErrors, PauseSubscriptionResponses, PeekMessagesData, PeekMessagesErrors, PeekMessagesResponses, PlanBulkData, PlanBulkErrors, PlanBulkResponses, PreviewRetriesData, PreviewRetriesErrors, PreviewRetriesResponses, PublishData, PublishDirectData, PublishDirectErrors, PublishDirectResponses, PublishErrors, PublishResponses, PurgeQueueData, PurgeQueueErrors, PurgeQueueResponses, PurgeSubscriptionData, PurgeSubscriptionErrors, PurgeSubscriptionResponses, PutBackQuarantineEntryData, PutBackQuarantineEntryErrors, PutBackQuarantineEntryResponses, PutEventTypeData, PutEventTypeErrors, PutEventTypeResponses, PutPlatformApplicationData, PutPlatformApplicationErrors, PutPlatformApplicationResponses, PutQuotaData, PutQuotaErrors, PutQuotaResponses, ReceiveMessagesData, ReceiveMessagesErrors, ReceiveMessagesResponses, RedeemPortalLinkData, RedeemPortalLinkErrors, RedeemPortalLinkResponses, RedriveMessageData, RedriveMessageErrors, RedriveMessageResponses, RedrivePortalEndpointData, RedrivePortalEndpointErrors, RedrivePortalEndpointResponses, ReleaseAddressData, ReleaseAddressErrors, ReleaseAddressResponses, ReplayFilterPolicyData, ReplayFilterPolicyErrors, ReplayFilterPolicyResponses, ResendMessageData, ResendMessageErrors, ResendMessageResponses, ResendPortalMessageData, ResendPortalMessageErrors, ResendPortalMessageResponses, ResendSinceData, ResendSinceErrors, ResendSinceResponses, ResumePortalEndpointData, ResumePortalEndpointErrors, ResumePortalEndpointResponses, ResumeRedriveData, ResumeRedriveErrors, ResumeRedriveResponses, ResumeSubscriptionData, ResumeSubscriptionErrors, ResumeSubscriptionResponses, RetryNowData, RetryNowErrors, RetryNowResponses, RevokeKeyData, RevokeKeyErrors, RevokeKeyResponses, RotatePortalKeyData, RotatePortalKeyErrors, RotatePortalKeyResponses, SearchDeadLettersData, SearchDeadLettersErrors, SearchDeadLettersResponses, SearchKeptMessagesData, SearchKeptMessagesErrors, SearchKeptMessagesResponses, SearchMessagesData, SearchMessagesErrors, SearchMessagesResponses, SendConfirmationData, SendConfirmationErrors, SendConfirmationResponses, SendMessagesData, SendMessagesErrors, SendMessagesResponses, SetMessageAsideData, SetMessageAsideErrors, SetMessageAsideResponses, ShowConfirmationData, ShowConfirmationErrors, ShowConfirmationResponses, ShowUnsubscribeData, ShowUnsubscribeErrors, ShowUnsubscribeResponses, StartBulkData, StartBulkErrors, StartBulkResponses, StartRedriveData, StartRedriveErrors, StartRedriveResponses, SubscribeData, SubscribeErrors, SubscribeResponses, SuppressAddressData, SuppressAddressErrors, SuppressAddressResponses, TestFilterPolicyData, TestFilterPolicyErrors, TestFilterPolicyResponses, TestPortalEndpointData, TestPortalEndpointErrors, TestPortalEndpointResponses, TestSubscriptionData, TestSubscriptionErrors, TestSubscriptionResponses, UndoBulkTaskData, UndoBulkTaskErrors, UndoBulkTaskResponses, UnsubscribeByLinkData, UnsubscribeByLinkErrors, UnsubscribeByLinkResponses, UpdatePlatformEndpointData, UpdatePlatformEndpointErrors, UpdatePlatformEndpointResponses, UpdatePushConsumerData, UpdatePushConsumerErrors, UpdatePushConsumerResponses, UpdateQueueData, UpdateQueueErrors, UpdateQueueResponses, UpdateRedriveData, UpdateRedriveErrors, UpdateRedriveResponses, UpdateSubscriptionData, UpdateSubscriptionErrors, UpdateSubscriptionResponses, UpdateTopicData, UpdateTopicErrors, UpdateTopicResponses } from './types.gen.ts';

export type Options<TData extends TDataShape = TDataShape, ThrowOnError extends boolean = boolean, TResponse = unknown> = Options2<TData, ThrowOnError, TResponse> & {
    /**
     * You can provide a client instance returned by `createClient()` instead of
     * individual options. This might be also useful if you want to implement a
     * custom client.
     */
    client: Client;
    /**
     * You can pass arbitrary values through the `meta` object. This can be
     * used to access values that aren't defined as part of the SDK function.
     */
    meta?: keyof ClientMeta extends never ? Record<string, unknown> : ClientMeta;
};

/**
 * Publish a message, or a batch of up to 100
 *
 * Answers once the messages are stored, all or none. They are delivered afterwards. If no answer comes, repeat the request with the same `Idempotency-Key`: within 24 hours it stores nothing again and answers the same ids. A topic that was deleted and made again knows no keys from before.
 *
 * A key needs the scope `publish`.
 */
export const publish = <ThrowOnError extends boolean = true>(options: Options<PublishData, ThrowOnError>): RequestResult<PublishResponses, PublishErrors, ThrowOnError, 'data'> => options.client.post<PublishResponses, PublishErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/messages',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete a topic with its subscriptions
 *
 * Deliveries that wait for its subscriptions are discarded and counted. The dead-letter queue that the topic has made goes with it if it is empty. A topic with an archive is not deleted. Deleting again answers the same.
 *
 * A key needs the scope `manage`.
 */
export const deleteTopic = <ThrowOnError extends boolean = true>(options: Options<DeleteTopicData, ThrowOnError>): RequestResult<DeleteTopicResponses, DeleteTopicErrors, ThrowOnError, 'data'> => options.client.delete<DeleteTopicResponses, DeleteTopicErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}',
    ...options
});

/**
 * Read a topic
 *
 * Shows the topic’s settings, the delivery policy in force and its subscriptions by status.
 *
 * A key needs the scope `read`.
 */
export const getTopic = <ThrowOnError extends boolean = true>(options: Options<GetTopicData, ThrowOnError>): RequestResult<GetTopicResponses, GetTopicErrors, ThrowOnError, 'data'> => options.client.get<GetTopicResponses, GetTopicErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}',
    ...options
});

/**
 * Set the given members of a topic
 *
 * Members that are left out stay as they are; null resets one. The topic must exist.
 *
 * A key needs the scope `manage`.
 */
export const updateTopic = <ThrowOnError extends boolean = true>(options: Options<UpdateTopicData, ThrowOnError>): RequestResult<UpdateTopicResponses, UpdateTopicErrors, ThrowOnError, 'data'> => options.client.patch<UpdateTopicResponses, UpdateTopicErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Create a topic, or set the members given
 *
 * Creates the topic if there is none; a name that ends in `.fifo` makes a FIFO topic. If it exists, the members given are set and the others stay, so the request can be repeated.
 *
 * A key needs the scope `manage`.
 */
export const createTopic = <ThrowOnError extends boolean = true>(options: Options<CreateTopicData, ThrowOnError>): RequestResult<CreateTopicResponses, CreateTopicErrors, ThrowOnError, 'data'> => options.client.put<CreateTopicResponses, CreateTopicErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List topics
 *
 * Topics of all accounts, sorted by ARN. A key sees only those that it may see.
 *
 * A key needs the scope `read`.
 */
export const listTopics = <ThrowOnError extends boolean = true>(options: Options<ListTopicsData, ThrowOnError>): RequestResult<ListTopicsResponses, ListTopicsErrors, ThrowOnError, 'data'> => options.client.get<ListTopicsResponses, ListTopicsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics',
    ...options
});

/**
 * List the event types of a topic
 *
 * The whole catalogue, sorted by name, without schemas and examples.
 *
 * A key needs the scope `read`.
 */
export const listEventTypes = <ThrowOnError extends boolean = true>(options: Options<ListEventTypesData, ThrowOnError>): RequestResult<ListEventTypesResponses, ListEventTypesErrors, ThrowOnError, 'data'> => options.client.get<ListEventTypesResponses, ListEventTypesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/event-types',
    ...options
});

/**
 * Delete an event type
 *
 * Removes the type with all versions from the catalogue. Subscriptions that have chosen it stay as they are. Deleting again answers the same.
 *
 * A key needs the scope `manage`.
 */
export const deleteEventType = <ThrowOnError extends boolean = true>(options: Options<DeleteEventTypeData, ThrowOnError>): RequestResult<DeleteEventTypeResponses, DeleteEventTypeErrors, ThrowOnError, 'data'> => options.client.delete<DeleteEventTypeResponses, DeleteEventTypeErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/event-types/{name}',
    ...options
});

/**
 * Read an event type
 *
 * Shows its schema and examples. The query chooses an older version of the schema.
 *
 * A key needs the scope `read`.
 */
export const getEventType = <ThrowOnError extends boolean = true>(options: Options<GetEventTypeData, ThrowOnError>): RequestResult<GetEventTypeResponses, GetEventTypeErrors, ThrowOnError, 'data'> => options.client.get<GetEventTypeResponses, GetEventTypeErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/event-types/{name}',
    ...options
});

/**
 * Create an event type, or set the members given
 *
 * The schema is compiled and the examples are checked before anything is stored. The members that are left out stay as they are, so the request can be repeated.
 *
 * A key needs the scope `manage`.
 */
export const putEventType = <ThrowOnError extends boolean = true>(options: Options<PutEventTypeData, ThrowOnError>): RequestResult<PutEventTypeResponses, PutEventTypeErrors, ThrowOnError, 'data'> => options.client.put<PutEventTypeResponses, PutEventTypeErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/event-types/{name}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Check a schema before an event type gets it
 *
 * The schema is compiled and the examples are checked. Nothing is stored.
 *
 * A key needs the scope `manage`.
 */
export const checkEventSchema = <ThrowOnError extends boolean = true>(options: Options<CheckEventSchemaData, ThrowOnError>): RequestResult<CheckEventSchemaResponses, CheckEventSchemaErrors, ThrowOnError, 'data'> => options.client.post<CheckEventSchemaResponses, CheckEventSchemaErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/event-types/check',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read the catalogue of a topic as an OpenAPI document
 *
 * Each event type is a webhook with its newest schema and its examples.
 *
 * A key needs the scope `read`.
 */
export const getTopicDocument = <ThrowOnError extends boolean = true>(options: Options<GetTopicDocumentData, ThrowOnError>): RequestResult<GetTopicDocumentResponses, GetTopicDocumentErrors, ThrowOnError, 'data'> => options.client.get<GetTopicDocumentResponses, GetTopicDocumentErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/openapi',
    ...options
});

/**
 * Import the webhooks of an OpenAPI document
 *
 * Each webhook becomes an event type of the same name. Types that the document does not have stay as they are. With `dryRun` the answer says what would change.
 *
 * A key needs the scope `manage`.
 */
export const importEventTypes = <ThrowOnError extends boolean = true>(options: Options<ImportEventTypesData, ThrowOnError>): RequestResult<ImportEventTypesResponses, ImportEventTypesErrors, ThrowOnError, 'data'> => options.client.post<ImportEventTypesResponses, ImportEventTypesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/openapi',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the subscriptions of a topic
 *
 * Each with its settings and the state of its lane. Answers 404 if the topic does not exist.
 *
 * A key needs the scope `read`.
 */
export const listTopicSubscriptions = <ThrowOnError extends boolean = true>(options: Options<ListTopicSubscriptionsData, ThrowOnError>): RequestResult<ListTopicSubscriptionsResponses, ListTopicSubscriptionsErrors, ThrowOnError, 'data'> => options.client.get<ListTopicSubscriptionsResponses, ListTopicSubscriptionsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/subscriptions',
    ...options
});

/**
 * Subscribe a webhook or a queue to a topic
 *
 * A topic has one subscription per endpoint. If you subscribe an endpoint again, the answer is 200 with the existing subscription if the given settings agree with it, else 409. A pending one is then asked to confirm once more.
 *
 * A key needs the scope `manage`.
 */
export const subscribe = <ThrowOnError extends boolean = true>(options: Options<SubscribeData, ThrowOnError>): RequestResult<SubscribeResponses, SubscribeErrors, ThrowOnError, 'data'> => options.client.post<SubscribeResponses, SubscribeErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/topics/{topic}/subscriptions',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List subscriptions
 *
 * Subscriptions of all topics that the caller may see. Conditions of the query must all hold.
 *
 * A key needs the scope `read`.
 */
export const listSubscriptions = <ThrowOnError extends boolean = true>(options: Options<ListSubscriptionsData, ThrowOnError>): RequestResult<ListSubscriptionsResponses, ListSubscriptionsErrors, ThrowOnError, 'data'> => options.client.get<ListSubscriptionsResponses, ListSubscriptionsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions',
    ...options
});

/**
 * Check whether endpoints could be subscribed
 *
 * Says which endpoints this server would refuse, and which setting it lacks for them. Nothing is made or sent.
 *
 * A key needs the scope `manage`.
 */
export const checkEndpoints = <ThrowOnError extends boolean = true>(options: Options<CheckEndpointsData, ThrowOnError>): RequestResult<CheckEndpointsResponses, CheckEndpointsErrors, ThrowOnError, 'data'> => options.client.post<CheckEndpointsResponses, CheckEndpointsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/endpoints/check',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete a subscription
 *
 * Deliveries that wait for it are discarded and counted. Deleting again answers the same.
 *
 * A key needs the scope `manage`.
 */
export const deleteSubscription = <ThrowOnError extends boolean = true>(options: Options<DeleteSubscriptionData, ThrowOnError>): RequestResult<DeleteSubscriptionResponses, DeleteSubscriptionErrors, ThrowOnError, 'data'> => options.client.delete<DeleteSubscriptionResponses, DeleteSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}',
    ...options
});

/**
 * Read a subscription and the state of its lane
 *
 * Shows settings, the delivery policy in force, and how many deliveries wait or are in flight.
 *
 * A key needs the scope `read`.
 */
export const getSubscription = <ThrowOnError extends boolean = true>(options: Options<GetSubscriptionData, ThrowOnError>): RequestResult<GetSubscriptionResponses, GetSubscriptionErrors, ThrowOnError, 'data'> => options.client.get<GetSubscriptionResponses, GetSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}',
    ...options
});

/**
 * Set the given members of a subscription
 *
 * Members that are left out stay as they are; null resets one. Protocol and confirmation cannot be changed. A changed filter acts on every message that is dispatched after the answer.
 *
 * `endpoint` moves the subscription: its id, keys, policies and waiting deliveries stay. Its circuit, last error and pace are reset. If the new endpoint must confirm, the old one stays until then. The request to confirm is repeated by the retry policy, and by `sendConfirmation`. For another origin, headers, client certificate and credentials of the URL must be given again.
 *
 * A key needs the scope `manage`.
 */
export const updateSubscription = <ThrowOnError extends boolean = true>(options: Options<UpdateSubscriptionData, ThrowOnError>): RequestResult<UpdateSubscriptionResponses, UpdateSubscriptionErrors, ThrowOnError, 'data'> => options.client.patch<UpdateSubscriptionResponses, UpdateSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Stop attempts; messages are still kept for it
 *
 * No further attempt begins, but attempts under way end. New messages wait in the lane and expire by the topic’s retention. Pausing a paused subscription changes nothing.
 *
 * A key needs the scope `manage`.
 */
export const pauseSubscription = <ThrowOnError extends boolean = true>(options: Options<PauseSubscriptionData, ThrowOnError>): RequestResult<PauseSubscriptionResponses, PauseSubscriptionErrors, ThrowOnError, 'data'> => options.client.post<PauseSubscriptionResponses, PauseSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/pause',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Continue attempts
 *
 * Waiting deliveries are attempted again. Resuming an active subscription changes nothing.
 *
 * A key needs the scope `manage`.
 */
export const resumeSubscription = <ThrowOnError extends boolean = true>(options: Options<ResumeSubscriptionData, ThrowOnError>): RequestResult<ResumeSubscriptionResponses, ResumeSubscriptionErrors, ThrowOnError, 'data'> => options.client.post<ResumeSubscriptionResponses, ResumeSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/resume',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Confirm a pending subscription with its token
 *
 * The token is in the confirmation request that the endpoint got. Confirming again with the same token answers the same.
 *
 * A key needs the scope `manage`.
 */
export const confirmSubscription = <ThrowOnError extends boolean = true>(options: Options<ConfirmSubscriptionData, ThrowOnError>): RequestResult<ConfirmSubscriptionResponses, ConfirmSubscriptionErrors, ThrowOnError, 'data'> => options.client.post<ConfirmSubscriptionResponses, ConfirmSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/confirm',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Ask a pending subscription’s endpoint once more, with a new token
 *
 * Tokens that were sent before count no more. At most 60 times an hour for an endpoint and topic, and 10000 for a host and account.
 *
 * A key needs the scope `manage`.
 */
export const sendConfirmation = <ThrowOnError extends boolean = true>(options: Options<SendConfirmationData, ThrowOnError>): RequestResult<SendConfirmationResponses, SendConfirmationErrors, ThrowOnError, 'data'> => options.client.post<SendConfirmationResponses, SendConfirmationErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/send-confirmation',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Make everything that waits for a retry due now
 *
 * Use it when an endpoint is back, so that deliveries need not wait out their delays. Attempts made so far still count. No delivery comes later than without this call. An open circuit sends its next probe now.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const retryNow = <ThrowOnError extends boolean = true>(options: Options<RetryNowData, ThrowOnError>): RequestResult<RetryNowResponses, RetryNowErrors, ThrowOnError, 'data'> => options.client.post<RetryNowResponses, RetryNowErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/retry',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Dead-letter one waiting message, so that the others go on
 *
 * For a message that fails again and again while its FIFO group waits behind it. It goes to the subscription’s dead-letter queue once, with the reason `setAside`, and the next message of its group follows. Answers 409 while an attempt at it is under way, and if the subscription has no dead-letter queue. Repeating it changes nothing.
 *
 * A key needs the scope `manage`.
 */
export const setMessageAside = <ThrowOnError extends boolean = true>(options: Options<SetMessageAsideData, ThrowOnError>): RequestResult<SetMessageAsideResponses, SetMessageAsideErrors, ThrowOnError, 'data'> => options.client.post<SetMessageAsideResponses, SetMessageAsideErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/set-aside',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Discard everything that waits
 *
 * Discarded deliveries are counted and go to no dead-letter queue. Attempts under way end as they would have.
 *
 * A key needs the scope `manage`.
 */
export const purgeSubscription = <ThrowOnError extends boolean = true>(options: Options<PurgeSubscriptionData, ThrowOnError>): RequestResult<PurgeSubscriptionResponses, PurgeSubscriptionErrors, ThrowOnError, 'data'> => options.client.post<PurgeSubscriptionResponses, PurgeSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/purge',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Make one attempt at once, outside the lane, with a message of its own or the one given
 *
 * Nothing is retried, counted or dead-lettered. It is made as a delivery is, and refused by what a delivery would be refused by: a queue’s policy and limits, secrets that cannot be opened. Without a message it sends a JSON object, which the verifiers of Standard Webhooks can parse. The answer has the request as it was sent, the endpoint’s answer and the times of both. A key without the scope `bodies` sees no bodies.
 *
 * A key needs the scope `manage`.
 */
export const testSubscription = <ThrowOnError extends boolean = true>(options: Options<TestSubscriptionData, ThrowOnError>): RequestResult<TestSubscriptionResponses, TestSubscriptionErrors, ThrowOnError, 'data'> => options.client.post<TestSubscriptionResponses, TestSubscriptionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/test',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Sign no more, and forget the keys
 *
 * All keys go at once, without an overlap. SNS’s own signatures of a topic are not affected.
 *
 * A key needs the scope `manage`.
 */
export const deleteWebhookKeys = <ThrowOnError extends boolean = true>(options: Options<DeleteWebhookKeysData, ThrowOnError>): RequestResult<DeleteWebhookKeysResponses, DeleteWebhookKeysErrors, ThrowOnError, 'data'> => options.client.delete<DeleteWebhookKeysResponses, DeleteWebhookKeysErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/webhook-keys',
    ...options
});

/**
 * List the keys that sign now, newest first
 *
 * Each request carries one signature per key. Keys whose overlap is over are left out.
 *
 * A key needs the scope `read`.
 */
export const listWebhookKeys = <ThrowOnError extends boolean = true>(options: Options<ListWebhookKeysData, ThrowOnError>): RequestResult<ListWebhookKeysResponses, ListWebhookKeysErrors, ThrowOnError, 'data'> => options.client.get<ListWebhookKeysResponses, ListWebhookKeysErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/webhook-keys',
    ...options
});

/**
 * Sign a subscription’s requests by Standard Webhooks, or rotate the key
 *
 * Requests then carry `webhook-id`, `webhook-timestamp` and `webhook-signature`. Earlier keys still sign together with the new one for `overlapSeconds`. The secret is in this answer and in no other.
 *
 * A key needs the scope `manage`.
 */
export const createWebhookKey = <ThrowOnError extends boolean = true>(options: Options<CreateWebhookKeyData, ThrowOnError>): RequestResult<CreateWebhookKeyResponses, CreateWebhookKeyErrors, ThrowOnError, 'data'> => options.client.post<CreateWebhookKeyResponses, CreateWebhookKeyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/webhook-keys',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the lanes of all topics, worst first
 *
 * A lane is what waits for a subscription. The list has the lanes in which something waits or is in flight, those whose latest attempts failed, and those that are pending. All others are fine. Each has a verdict. Lanes are read at most every two seconds, and `at` says when.
 *
 * A key needs the scope `read`.
 */
export const listLanes = <ThrowOnError extends boolean = true>(options: Options<ListLanesData, ThrowOnError>): RequestResult<ListLanesResponses, ListLanesErrors, ThrowOnError, 'data'> => options.client.get<ListLanesResponses, ListLanesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/lanes',
    ...options
});

/**
 * Plan an action on many lanes; nothing is changed yet
 *
 * Answers what would be acted on and what is left out. The plan keeps these objects for 15 minutes: `startBulk` acts on them, and on no others that match later. A key acts only on what it may change.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const planBulk = <ThrowOnError extends boolean = true>(options: Options<PlanBulkData, ThrowOnError>): RequestResult<PlanBulkResponses, PlanBulkErrors, ThrowOnError, 'data'> => options.client.post<PlanBulkResponses, PlanBulkErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/bulk-plans',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List bulk tasks
 *
 * Tasks that were started, the latest first, for 14 days. A key sees its own tasks.
 *
 * A key needs the scope `read` or `redrive` or `manage`.
 */
export const listBulkTasks = <ThrowOnError extends boolean = true>(options: Options<ListBulkTasksData, ThrowOnError>): RequestResult<ListBulkTasksResponses, ListBulkTasksErrors, ThrowOnError, 'data'> => options.client.get<ListBulkTasksResponses, ListBulkTasksErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/bulk',
    ...options
});

/**
 * Carry out a plan
 *
 * Answers at once. The task runs in the background, also if this server is stopped or killed meanwhile. Starting a plan again changes nothing.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const startBulk = <ThrowOnError extends boolean = true>(options: Options<StartBulkData, ThrowOnError>): RequestResult<StartBulkResponses, StartBulkErrors, ThrowOnError, 'data'> => options.client.post<StartBulkResponses, StartBulkErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/bulk',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a plan or task, its progress and its failures
 *
 * Failures are listed with the object and the reason.
 *
 * A key needs the scope `read` or `redrive` or `manage`.
 */
export const getBulkTask = <ThrowOnError extends boolean = true>(options: Options<GetBulkTaskData, ThrowOnError>): RequestResult<GetBulkTaskResponses, GetBulkTaskErrors, ThrowOnError, 'data'> => options.client.get<GetBulkTaskResponses, GetBulkTaskErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/bulk/{id}',
    ...options
});

/**
 * Cancel a bulk task
 *
 * Its present batch is finished first. The task undoes nothing by itself; `undoBulkTask` does.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const cancelBulkTask = <ThrowOnError extends boolean = true>(options: Options<CancelBulkTaskData, ThrowOnError>): RequestResult<CancelBulkTaskResponses, CancelBulkTaskErrors, ThrowOnError, 'data'> => options.client.post<CancelBulkTaskResponses, CancelBulkTaskErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/bulk/{id}/cancel',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Undo a pause or resume of many
 *
 * Starts a task on exactly the subscriptions that the other one has changed. A subscription that was paused before stays paused.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const undoBulkTask = <ThrowOnError extends boolean = true>(options: Options<UndoBulkTaskData, ThrowOnError>): RequestResult<UndoBulkTaskResponses, UndoBulkTaskErrors, ThrowOnError, 'data'> => options.client.post<UndoBulkTaskResponses, UndoBulkTaskErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/bulk/{id}/undo',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * See the server at a glance
 *
 * Totals of what the caller may see, the lanes that need attention, dead letters, and how full Redis is. Lanes are read at most every two seconds, totals every ten.
 *
 * A key needs the scope `read`.
 */
export const getOverview = <ThrowOnError extends boolean = true>(options: Options<GetOverviewData, ThrowOnError>): RequestResult<GetOverviewResponses, GetOverviewErrors, ThrowOnError, 'data'> => options.client.get<GetOverviewResponses, GetOverviewErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/overview',
    ...options
});

/**
 * Read statistics over time
 *
 * Counts by minute for 24 hours and by hour for 30 days, up to now: all together, or of one topic or subscription. Processes add what they have counted every five seconds and when they stop. A process that crashes loses at most its last five seconds.
 *
 * A key needs the scope `read`.
 */
export const getStats = <ThrowOnError extends boolean = true>(options: Options<GetStatsData, ThrowOnError>): RequestResult<GetStatsResponses, GetStatsErrors, ThrowOnError, 'data'> => options.client.get<GetStatsResponses, GetStatsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/stats',
    ...options
});

/**
 * Find topics, subscriptions, queues and keys by name
 *
 * Finds what has all words in its names, in any order: a subscription by its name, topic, host and metadata. A caller sees what lists show it, and keys if it may list them. Names are read again after 2 to 15 s.
 *
 * A key needs the scope `read`.
 */
export const findByName = <ThrowOnError extends boolean = true>(options: Options<FindByNameData, ThrowOnError>): RequestResult<FindByNameResponses, FindByNameErrors, ThrowOnError, 'data'> => options.client.get<FindByNameResponses, FindByNameErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/search/names',
    ...options
});

/**
 * List the processes that run now
 *
 * APIs, workers and redrive services, with their release, their load and their slots. Each reports every ten seconds. A process that stops leaves the list at once, one that was killed after 35 seconds. For keys of the server’s own account without prefixes.
 *
 * A key needs the scope `read`.
 */
export const listServices = <ThrowOnError extends boolean = true>(options: Options<ListServicesData, ThrowOnError>): RequestResult<ListServicesResponses, ListServicesErrors, ThrowOnError, 'data'> => options.client.get<ListServicesResponses, ListServicesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/services',
    ...options
});

/**
 * When the retries of a delivery policy would come
 *
 * Nominal times after the first attempt, before jitter and without what the attempts themselves take, and whether the topic’s retention ends first. Lists the presets, too. Nothing is changed.
 */
export const previewRetries = <ThrowOnError extends boolean = true>(options: Options<PreviewRetriesData, ThrowOnError>): RequestResult<PreviewRetriesResponses, PreviewRetriesErrors, ThrowOnError, 'data'> => options.client.post<PreviewRetriesResponses, PreviewRetriesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/delivery-policies/preview',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Count the latest messages that match a filter policy
 *
 * Tries the policy on the messages that the topic keeps, the latest first, for at most 2 s. Nothing is sent or changed. A key also needs the scope `bodies`, because the counts reveal the contents of messages.
 *
 * A key needs the scope `read`.
 */
export const replayFilterPolicy = <ThrowOnError extends boolean = true>(options: Options<ReplayFilterPolicyData, ThrowOnError>): RequestResult<ReplayFilterPolicyResponses, ReplayFilterPolicyErrors, ThrowOnError, 'data'> => options.client.post<ReplayFilterPolicyResponses, ReplayFilterPolicyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/filter-policies/replay',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Which clauses of a filter policy a message satisfies
 *
 * Nothing is published or changed. Clauses of a rule are judged one by one; if several lie under one array, they must hold in the same element, so that `matched` may be false although each clause is. At most 100 values of a key that satisfy nothing are shown.
 *
 * A key needs the scope `read` or `manage`.
 */
export const testFilterPolicy = <ThrowOnError extends boolean = true>(options: Options<TestFilterPolicyData, ThrowOnError>): RequestResult<TestFilterPolicyResponses, TestFilterPolicyErrors, ThrowOnError, 'data'> => options.client.post<TestFilterPolicyResponses, TestFilterPolicyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/filter-policies/test',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read the text and attributes of a message
 *
 * Served from the messages that the topic keeps (`keepMessages`), or from where a delivery still waits or was dead-lettered. A key also needs the scope `bodies`.
 *
 * A key needs the scope `read`.
 */
export const getMessageBody = <ThrowOnError extends boolean = true>(options: Options<GetMessageBodyData, ThrowOnError>): RequestResult<GetMessageBodyResponses, GetMessageBodyErrors, ThrowOnError, 'data'> => options.client.get<GetMessageBodyResponses, GetMessageBodyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages/{messageId}/body',
    ...options
});

/**
 * Send a message again to one subscription
 *
 * The subscription gets a new delivery under the same message id, with a new set of attempts. Its filter is not asked. The delivery waits in the lane, and in a FIFO topic behind its group. With an `Idempotency-Key`, a request that is repeated within 24 hours makes no second delivery.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const resendMessage = <ThrowOnError extends boolean = true>(options: Options<ResendMessageData, ThrowOnError>): RequestResult<ResendMessageResponses, ResendMessageErrors, ThrowOnError, 'data'> => options.client.post<ResendMessageResponses, ResendMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages/{messageId}/resend',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Send the kept messages since a time again
 *
 * Answers at once. A task then resends the messages that the topic keeps since that time, also those that were delivered, unless `failedOnly` is true. The filter of the subscription is asked. The routes of redrives read the task, change its rate, pause, resume and cancel it. One resend per subscription is active at a time.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const resendSince = <ThrowOnError extends boolean = true>(options: Options<ResendSinceData, ThrowOnError>): RequestResult<ResendSinceResponses, ResendSinceErrors, ThrowOnError, 'data'> => options.client.post<ResendSinceResponses, ResendSinceErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/resend',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Count the deliveries of a message by state
 *
 * Read from the outcome log, which keeps the newest messages (`FANTAIL_LOG_MESSAGES`). Once the message has left it, the answer has no counts (`logged: false`) while the topic keeps the message, and is 404 after that.
 *
 * A key needs the scope `read`.
 */
export const getMessage = <ThrowOnError extends boolean = true>(options: Options<GetMessageData, ThrowOnError>): RequestResult<GetMessageResponses, GetMessageErrors, ThrowOnError, 'data'> => options.client.get<GetMessageResponses, GetMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages/{messageId}',
    ...options
});

/**
 * List the deliveries of a message
 *
 * One entry per subscription of the topic, with the latest end of what was redriven. `cause` and `delayMs` say why a delivery came when it did, why it waits, or why it ended. The list is empty, with `logged: false`, if the message has left the outcome log and only its topic still keeps it.
 *
 * A key needs the scope `read`.
 */
export const listDeliveries = <ThrowOnError extends boolean = true>(options: Options<ListDeliveriesData, ThrowOnError>): RequestResult<ListDeliveriesResponses, ListDeliveriesErrors, ThrowOnError, 'data'> => options.client.get<ListDeliveriesResponses, ListDeliveriesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages/{messageId}/deliveries',
    ...options
});

/**
 * List recorded attempts of a subscription
 *
 * Attempts are recorded where the topic asks for it (`recordAttempts`), at most 300 a second by each worker, 20 successes of a subscription among them. The newest 100 of each subscription are kept, within a bound of bytes over all. A worker writes them once a second, so a crash loses the last ones. A key without the scope `bodies` sees no bodies.
 *
 * A key needs the scope `read`.
 */
export const listAttempts = <ThrowOnError extends boolean = true>(options: Options<ListAttemptsData, ThrowOnError>): RequestResult<ListAttemptsResponses, ListAttemptsErrors, ThrowOnError, 'data'> => options.client.get<ListAttemptsResponses, ListAttemptsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/subscriptions/{id}/attempts',
    ...options
});

/**
 * List recorded attempts of a delivery
 *
 * Attempts are recorded where the topic asks for it (`recordAttempts`), at most 300 a second by each worker, 20 successes of a subscription among them. The newest 100 of each subscription are kept, within a bound of bytes over all. A worker writes them once a second, so a crash loses the last ones. A key without the scope `bodies` sees no bodies. Attempts of the message that are older than `keptSince` are not kept.
 *
 * A key needs the scope `read`.
 */
export const listDeliveryAttempts = <ThrowOnError extends boolean = true>(options: Options<ListDeliveryAttemptsData, ThrowOnError>): RequestResult<ListDeliveryAttemptsResponses, ListDeliveryAttemptsErrors, ThrowOnError, 'data'> => options.client.get<ListDeliveryAttemptsResponses, ListDeliveryAttemptsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages/{messageId}/deliveries/{id}/attempts',
    ...options
});

/**
 * Search what happened to messages
 *
 * Reads the outcome log backwards, from the newest entry. A call reads a bounded part, so a page may be short or empty and still have a cursor. `scannedTo` says how far it looked. Messages to one target are left out.
 *
 * A key needs the scope `read`.
 */
export const searchMessages = <ThrowOnError extends boolean = true>(options: Options<SearchMessagesData, ThrowOnError>): RequestResult<SearchMessagesResponses, SearchMessagesErrors, ThrowOnError, 'data'> => options.client.get<SearchMessagesResponses, SearchMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages',
    ...options
});

/**
 * Publish a message to one phone number, device or browser
 *
 * Needs no topic and no subscription. Answers once the message is stored; it is delivered and retried afterwards. A message that fails permanently is discarded and counted, because it has no dead-letter queue. A phone number needs the scope `sms`. An `Idempotency-Key` belongs to the target.
 *
 * A key needs the scope `publish`.
 */
export const publishDirect = <ThrowOnError extends boolean = true>(options: Options<PublishDirectData, ThrowOnError>): RequestResult<PublishDirectResponses, PublishDirectErrors, ThrowOnError, 'data'> => options.client.post<PublishDirectResponses, PublishDirectErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/messages',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Search kept messages by what they say
 *
 * Reads the messages that topics keep (`keepMessages`), the newest first. A call looks for a bounded time, so an answer may be short or empty and still have a cursor. Without `text` and `eventType` everything is found. A key also needs the scope `bodies`, and gets what it may read. `scannedTo` says how far it looked.
 *
 * A key needs the scope `read`.
 */
export const searchKeptMessages = <ThrowOnError extends boolean = true>(options: Options<SearchKeptMessagesData, ThrowOnError>): RequestResult<SearchKeptMessagesResponses, SearchKeptMessagesErrors, ThrowOnError, 'data'> => options.client.get<SearchKeptMessagesResponses, SearchKeptMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/search/kept-messages',
    ...options
});

/**
 * Search dead letters by what they say
 *
 * Reads all queues with dead letters, one after the other, the oldest letter first. Messages that a queue has moved to its dead-letter queue are found too, unless a condition is about topics, subscriptions or times. A call looks for a bounded time, so an answer may be short or empty and still have a cursor. Without `text` and `eventType` everything is found. A key also needs the scope `bodies`, and gets what it may read. `queuesDone` says how far it looked.
 *
 * A key needs the scope `read`.
 */
export const searchDeadLetters = <ThrowOnError extends boolean = true>(options: Options<SearchDeadLettersData, ThrowOnError>): RequestResult<SearchDeadLettersResponses, SearchDeadLettersErrors, ThrowOnError, 'data'> => options.client.get<SearchDeadLettersResponses, SearchDeadLettersErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/search/dead-letters',
    ...options
});

/**
 * Follow messages and deliveries live
 *
 * A stream of server-sent events: what was published, attempts, and ends of deliveries. Ends come from the outcome log, and resume behind the last id. Attempts and other events come only while a client listens, and after a reconnect begin with a `gap`. The event `gap` says how many events are missing (`dropped`, null: unknown), from when to when, and why: rate, lag, trimmed or reconnect. Every five seconds `state` says whether the stream is live. The event `end` says why the server closes it. No event has bodies.
 *
 * A key needs the scope `read`.
 */
export const listenToEvents = <ThrowOnError extends boolean = true>(options: Options<ListenToEventsData, ThrowOnError, ListenToEventsResponse>): Promise<ServerSentEventsResult<ListenToEventsResponses>> => options.client.sse.get<ListenToEventsResponses, ListenToEventsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/events',
    ...options
});

/**
 * Delete a queue with everything in it
 *
 * Messages and push consumers go with the queue; nothing brings them back. Deleting again is allowed.
 *
 * A key needs the scope `manage`.
 */
export const deleteQueue = <ThrowOnError extends boolean = true>(options: Options<DeleteQueueData, ThrowOnError>): RequestResult<DeleteQueueResponses, DeleteQueueErrors, ThrowOnError, 'data'> => options.client.delete<DeleteQueueResponses, DeleteQueueErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}',
    ...options
});

/**
 * Read a queue and how full it is
 *
 * Shows settings, message counts, the age of the oldest message, and whose dead letters it takes.
 *
 * A key needs the scope `read`.
 */
export const getQueue = <ThrowOnError extends boolean = true>(options: Options<GetQueueData, ThrowOnError>): RequestResult<GetQueueResponses, GetQueueErrors, ThrowOnError, 'data'> => options.client.get<GetQueueResponses, GetQueueErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}',
    ...options
});

/**
 * Set the given members of a queue
 *
 * Members that are left out stay as they are; null resets one. The queue must exist.
 *
 * A key needs the scope `manage`.
 */
export const updateQueue = <ThrowOnError extends boolean = true>(options: Options<UpdateQueueData, ThrowOnError>): RequestResult<UpdateQueueResponses, UpdateQueueErrors, ThrowOnError, 'data'> => options.client.patch<UpdateQueueResponses, UpdateQueueErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Create a queue, or set the members given
 *
 * Creates the queue if there is none; a name that ends in `.fifo` makes a FIFO queue. If it exists, the members given are set and the others stay, so the request can be repeated.
 *
 * A key needs the scope `manage`.
 */
export const createQueue = <ThrowOnError extends boolean = true>(options: Options<CreateQueueData, ThrowOnError>): RequestResult<CreateQueueResponses, CreateQueueErrors, ThrowOnError, 'data'> => options.client.put<CreateQueueResponses, CreateQueueErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List queues
 *
 * Queues of all accounts, sorted by ARN. A key sees only those that it may see.
 *
 * A key needs the scope `read`.
 */
export const listQueues = <ThrowOnError extends boolean = true>(options: Options<ListQueuesData, ThrowOnError>): RequestResult<ListQueuesResponses, ListQueuesErrors, ThrowOnError, 'data'> => options.client.get<ListQueuesResponses, ListQueuesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues',
    ...options
});

/**
 * Look at messages without receiving them
 *
 * Oldest first, whether they are visible, delayed or in flight; nothing is changed. The conditions of the query are about dead letters and must all hold. A key without the scope `bodies` sees neither texts nor attributes.
 *
 * A key needs the scope `read`.
 */
export const peekMessages = <ThrowOnError extends boolean = true>(options: Options<PeekMessagesData, ThrowOnError>): RequestResult<PeekMessagesResponses, PeekMessagesErrors, ThrowOnError, 'data'> => options.client.get<PeekMessagesResponses, PeekMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/messages',
    ...options
});

/**
 * Send a message, or a batch of up to 100
 *
 * Answers once the messages are in the queue. A FIFO queue stores no second message with a `deduplicationId` of the last 5 minutes, and answers the id of the first.
 *
 * A key needs the scope `publish`.
 */
export const sendMessages = <ThrowOnError extends boolean = true>(options: Options<SendMessagesData, ThrowOnError>): RequestResult<SendMessagesResponses, SendMessagesErrors, ThrowOnError, 'data'> => options.client.post<SendMessagesResponses, SendMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/messages',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Receive messages, waiting for them if asked
 *
 * Received messages are hidden from others until their visibility timeout ends; acknowledge them before that, or they come back. A message may come more than once.
 *
 * A key needs the scope `consume` or `manage`.
 */
export const receiveMessages = <ThrowOnError extends boolean = true>(options: Options<ReceiveMessagesData, ThrowOnError>): RequestResult<ReceiveMessagesResponses, ReceiveMessagesErrors, ThrowOnError, 'data'> => options.client.post<ReceiveMessagesResponses, ReceiveMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/receive',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete received messages, by a handle of any receive; on a FIFO queue, of the newest
 *
 * Each handle has a result of its own, so if one is refused, the others are still done. A message that is already gone counts as done.
 *
 * A key needs the scope `consume` or `manage`.
 */
export const acknowledgeMessages = <ThrowOnError extends boolean = true>(options: Options<AcknowledgeMessagesData, ThrowOnError>): RequestResult<AcknowledgeMessagesResponses, AcknowledgeMessagesErrors, ThrowOnError, 'data'> => options.client.post<AcknowledgeMessagesResponses, AcknowledgeMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/ack',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Hide received messages for longer, or show them at once with 0
 *
 * The time counts from now, up to 12 hours after the receive. Each handle has a result of its own.
 *
 * A key needs the scope `consume` or `manage`.
 */
export const changeVisibility = <ThrowOnError extends boolean = true>(options: Options<ChangeVisibilityData, ThrowOnError>): RequestResult<ChangeVisibilityResponses, ChangeVisibilityErrors, ThrowOnError, 'data'> => options.client.post<ChangeVisibilityResponses, ChangeVisibilityErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/visibility',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete one message, whoever has received it
 *
 * Needs no receipt handle. Nothing brings the message back.
 *
 * A key needs the scope `manage`.
 */
export const deleteQueueMessage = <ThrowOnError extends boolean = true>(options: Options<DeleteQueueMessageData, ThrowOnError>): RequestResult<DeleteQueueMessageResponses, DeleteQueueMessageErrors, ThrowOnError, 'data'> => options.client.delete<DeleteQueueMessageResponses, DeleteQueueMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/messages/{messageId}',
    ...options
});

/**
 * Look at one message
 *
 * Shows the message without receiving it, so its receive count and visibility stay as they are. A key without the scope `bodies` sees neither text nor attributes.
 *
 * A key needs the scope `read`.
 */
export const getQueueMessage = <ThrowOnError extends boolean = true>(options: Options<GetQueueMessageData, ThrowOnError>): RequestResult<GetQueueMessageResponses, GetQueueMessageErrors, ThrowOnError, 'data'> => options.client.get<GetQueueMessageResponses, GetQueueMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/messages/{messageId}',
    ...options
});

/**
 * Count or group dead letters
 *
 * Without a query it answers from counters, so it is quick however much the queue holds. With `groupBy` or a filter it reads the queue, oldest first, and says in `scannedTo` how far it looked; `nextCursor` looks on. Other messages are not counted.
 *
 * A key needs the scope `read`.
 */
export const countDeadLetters = <ThrowOnError extends boolean = true>(options: Options<CountDeadLettersData, ThrowOnError>): RequestResult<CountDeadLettersResponses, CountDeadLettersErrors, ThrowOnError, 'data'> => options.client.get<CountDeadLettersResponses, CountDeadLettersErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/dead-letters',
    ...options
});

/**
 * Remove everything in the queue, or the dead letters that a filter matches
 *
 * Removes what was sent before the call: visible, delayed and in flight. Nothing brings it back. With `filter` it removes only dead letters that match, and with `dryRun` it counts them. If more than 1000 match, a task removes them: `/v1/redrives/{id}` shows its progress, and can pause and cancel it.
 *
 * A key needs the scope `manage`.
 */
export const purgeQueue = <ThrowOnError extends boolean = true>(options: Options<PurgeQueueData, ThrowOnError>): RequestResult<PurgeQueueResponses, PurgeQueueErrors, ThrowOnError, 'data'> => options.client.post<PurgeQueueResponses, PurgeQueueErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/purge',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Send one message again, edited if wanted
 *
 * A dead letter goes back to its subscription, or any message to `destination`. An edited message gets a new id, and the old one goes along: in the attribute `fantail.editedFrom`, and to webhooks as `x-fantail-edited-from`. The filter policy and the size limits of the target are checked first. A refusal changes nothing. In a FIFO queue only the first message of a group can be sent. Needs the scopes `redrive`, `publish` and `bodies`.
 *
 * A key needs the scope `redrive`.
 */
export const redriveMessage = <ThrowOnError extends boolean = true>(options: Options<RedriveMessageData, ThrowOnError>): RequestResult<RedriveMessageResponses, RedriveMessageErrors, ThrowOnError, 'data'> => options.client.post<RedriveMessageResponses, RedriveMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/messages/{messageId}/redrive',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Remove a push consumer; requests under way end as they began
 *
 * No further request begins. Messages stay in the queue for other receivers.
 *
 * A key needs the scope `manage`.
 */
export const deletePushConsumer = <ThrowOnError extends boolean = true>(options: Options<DeletePushConsumerData, ThrowOnError>): RequestResult<DeletePushConsumerResponses, DeletePushConsumerErrors, ThrowOnError, 'data'> => options.client.delete<DeletePushConsumerResponses, DeletePushConsumerErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/consumers/{consumer}',
    ...options
});

/**
 * Read a push consumer, and how many requests are under way
 *
 * Shows its settings without secrets: passwords are masked, headers shown by name only.
 *
 * A key needs the scope `read`.
 */
export const getPushConsumer = <ThrowOnError extends boolean = true>(options: Options<GetPushConsumerData, ThrowOnError>): RequestResult<GetPushConsumerResponses, GetPushConsumerErrors, ThrowOnError, 'data'> => options.client.get<GetPushConsumerResponses, GetPushConsumerErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/consumers/{consumer}',
    ...options
});

/**
 * Set the given members of a push consumer
 *
 * Members that are left out stay as they are; null resets one. If `url` has another origin, the secrets of `outbound` must be given again.
 *
 * A key needs the scope `manage`.
 */
export const updatePushConsumer = <ThrowOnError extends boolean = true>(options: Options<UpdatePushConsumerData, ThrowOnError>): RequestResult<UpdatePushConsumerResponses, UpdatePushConsumerErrors, ThrowOnError, 'data'> => options.client.patch<UpdatePushConsumerResponses, UpdatePushConsumerErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/consumers/{consumer}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Push a queue’s messages to a webhook, or set the members given
 *
 * Workers post batches to the URL as AWS Lambda gets them from SQS, and delete what a 2xx accepts. Messages that fail come back after its visibility timeout. Changes act at once.
 *
 * A key needs the scope `manage`.
 */
export const createPushConsumer = <ThrowOnError extends boolean = true>(options: Options<CreatePushConsumerData, ThrowOnError>): RequestResult<CreatePushConsumerResponses, CreatePushConsumerErrors, ThrowOnError, 'data'> => options.client.put<CreatePushConsumerResponses, CreatePushConsumerErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/consumers/{consumer}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the push consumers of a queue
 *
 * Sorted by name, each with its settings. Answers 404 where the queue does not exist.
 *
 * A key needs the scope `read`.
 */
export const listPushConsumers = <ThrowOnError extends boolean = true>(options: Options<ListPushConsumersData, ThrowOnError>): RequestResult<ListPushConsumersResponses, ListPushConsumersErrors, ThrowOnError, 'data'> => options.client.get<ListPushConsumersResponses, ListPushConsumersErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/queues/{queue}/consumers',
    ...options
});

/**
 * List redrive tasks
 *
 * Active tasks and those that ended within 14 days, newest first.
 *
 * A key needs the scope `read` or `redrive`.
 */
export const listRedrives = <ThrowOnError extends boolean = true>(options: Options<ListRedrivesData, ThrowOnError>): RequestResult<ListRedrivesResponses, ListRedrivesErrors, ThrowOnError, 'data'> => options.client.get<ListRedrivesResponses, ListRedrivesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives',
    ...options
});

/**
 * Move dead letters back to their subscriptions, or to a queue
 *
 * Answers at once; the task then moves what is in the source at this moment. A dead letter goes only to its own subscription, with a new set of attempts. One redrive per source is active at a time.
 *
 * A key needs the scope `redrive`.
 */
export const startRedrive = <ThrowOnError extends boolean = true>(options: Options<StartRedriveData, ThrowOnError>): RequestResult<StartRedriveResponses, StartRedriveErrors, ThrowOnError, 'data'> => options.client.post<StartRedriveResponses, StartRedriveErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a redrive task and its progress
 *
 * Shows status, rate, and how many messages matched, were moved or were skipped.
 *
 * A key needs the scope `read` or `redrive`.
 */
export const getRedrive = <ThrowOnError extends boolean = true>(options: Options<GetRedriveData, ThrowOnError>): RequestResult<GetRedriveResponses, GetRedriveErrors, ThrowOnError, 'data'> => options.client.get<GetRedriveResponses, GetRedriveErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives/{id}',
    ...options
});

/**
 * Change the rate of an active task
 *
 * Acts on a running or paused task. A task that has ended answers 409.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const updateRedrive = <ThrowOnError extends boolean = true>(options: Options<UpdateRedriveData, ThrowOnError>): RequestResult<UpdateRedriveResponses, UpdateRedriveErrors, ThrowOnError, 'data'> => options.client.patch<UpdateRedriveResponses, UpdateRedriveErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Cancel a redrive task
 *
 * Messages that were moved stay moved. A batch under way is finished first; until then it is `canceling`.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const cancelRedrive = <ThrowOnError extends boolean = true>(options: Options<CancelRedriveData, ThrowOnError>): RequestResult<CancelRedriveResponses, CancelRedriveErrors, ThrowOnError, 'data'> => options.client.post<CancelRedriveResponses, CancelRedriveErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives/{id}/cancel',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Pause a redrive task
 *
 * A batch under way is finished, then nothing moves until the task is resumed or canceled.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const pauseRedrive = <ThrowOnError extends boolean = true>(options: Options<PauseRedriveData, ThrowOnError>): RequestResult<PauseRedriveResponses, PauseRedriveErrors, ThrowOnError, 'data'> => options.client.post<PauseRedriveResponses, PauseRedriveErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives/{id}/pause',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Resume a redrive task
 *
 * Goes on where the task was paused. Resuming a running task changes nothing.
 *
 * A key needs the scope `redrive` or `manage`.
 */
export const resumeRedrive = <ThrowOnError extends boolean = true>(options: Options<ResumeRedriveData, ThrowOnError>): RequestResult<ResumeRedriveResponses, ResumeRedriveErrors, ThrowOnError, 'data'> => options.client.post<ResumeRedriveResponses, ResumeRedriveErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/redrives/{id}/resume',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List what cannot be decoded
 *
 * Nothing leaves the quarantine by itself: each entry waits until it is put back or deleted.
 *
 * A key needs the scope `manage`.
 */
export const listQuarantine = <ThrowOnError extends boolean = true>(options: Options<ListQuarantineData, ThrowOnError>): RequestResult<ListQuarantineResponses, ListQuarantineErrors, ThrowOnError, 'data'> => options.client.get<ListQuarantineResponses, ListQuarantineErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quarantine',
    ...options
});

/**
 * Delete an entry permanently
 *
 * Its content is not delivered and counts as discarded (`quarantineDeleted`). Export it first: nothing brings it back. A record stays where it is, and the next sweep lists it again.
 *
 * A key needs the scope `manage`.
 */
export const deleteQuarantineEntry = <ThrowOnError extends boolean = true>(options: Options<DeleteQuarantineEntryData, ThrowOnError>): RequestResult<DeleteQuarantineEntryResponses, DeleteQuarantineEntryErrors, ThrowOnError, 'data'> => options.client.delete<DeleteQuarantineEntryResponses, DeleteQuarantineEntryErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quarantine/{id}',
    ...options
});

/**
 * Export an entry with its raw bytes
 *
 * The bytes are those that were stored, in base64, and as text where they are UTF-8. A key also needs the scope `bodies`.
 *
 * A key needs the scope `manage`.
 */
export const exportQuarantineEntry = <ThrowOnError extends boolean = true>(options: Options<ExportQuarantineEntryData, ThrowOnError>): RequestResult<ExportQuarantineEntryResponses, ExportQuarantineEntryErrors, ThrowOnError, 'data'> => options.client.get<ExportQuarantineEntryResponses, ExportQuarantineEntryErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quarantine/{id}',
    ...options
});

/**
 * Deliver what an entry holds, and remove the entry
 *
 * Its messages are dispatched again under their own ids, and a single delivery goes to its lane. The answer is 409, and the entry stays, if this release cannot decode it either, or if its topic or subscription is gone.
 *
 * A key needs the scope `manage`.
 */
export const putBackQuarantineEntry = <ThrowOnError extends boolean = true>(options: Options<PutBackQuarantineEntryData, ThrowOnError>): RequestResult<PutBackQuarantineEntryResponses, PutBackQuarantineEntryErrors, ThrowOnError, 'data'> => options.client.post<PutBackQuarantineEntryResponses, PutBackQuarantineEntryErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quarantine/{id}/put-back',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the API keys of the caller’s account
 *
 * Without their tokens. If no keys are required, those of all accounts are listed.
 *
 * A key needs the scope `manage`.
 */
export const listKeys = <ThrowOnError extends boolean = true>(options: Options<ListKeysData, ThrowOnError>): RequestResult<ListKeysResponses, ListKeysErrors, ThrowOnError, 'data'> => options.client.get<ListKeysResponses, ListKeysErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/keys',
    ...options
});

/**
 * Make an API key
 *
 * The token of a native key is sent as `Authorization: Bearer ft_…`; an access key signs requests of the AWS protocols. Token and secret access key are in this answer and in no other. A key can be given no scope that the caller’s own key lacks, and by a key with a limit none above that; its requests then count against that limit, too.
 *
 * A key needs the scope `manage`.
 */
export const createKey = <ThrowOnError extends boolean = true>(options: Options<CreateKeyData, ThrowOnError>): RequestResult<CreateKeyResponses, CreateKeyErrors, ThrowOnError, 'data'> => options.client.post<CreateKeyResponses, CreateKeyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/keys',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Revoke an API key
 *
 * Other processes refuse the key within 100 ms; if the announcement is lost, within a second. Requests under way continue.
 *
 * A key needs the scope `manage`.
 */
export const revokeKey = <ThrowOnError extends boolean = true>(options: Options<RevokeKeyData, ThrowOnError>): RequestResult<RevokeKeyResponses, RevokeKeyErrors, ThrowOnError, 'data'> => options.client.delete<RevokeKeyResponses, RevokeKeyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/keys/{key}',
    ...options
});

/**
 * Read what an API key may do
 *
 * Shows scopes, prefixes and limits, never the token. Keys of other accounts answer 404.
 *
 * A key needs the scope `manage`.
 */
export const getKey = <ThrowOnError extends boolean = true>(options: Options<GetKeyData, ThrowOnError>): RequestResult<GetKeyResponses, GetKeyErrors, ThrowOnError, 'data'> => options.client.get<GetKeyResponses, GetKeyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/keys/{key}',
    ...options
});

/**
 * List the quotas of customers
 *
 * Shows each with what it is used for now. A key with prefixes sees the quotas of names that it may see.
 *
 * A key needs the scope `read`.
 */
export const listQuotas = <ThrowOnError extends boolean = true>(options: Options<ListQuotasData, ThrowOnError>): RequestResult<ListQuotasResponses, ListQuotasErrors, ThrowOnError, 'data'> => options.client.get<ListQuotasResponses, ListQuotasErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quotas',
    ...options
});

/**
 * Remove the quota of a customer
 *
 * Topics, subscriptions and messages stay, and are no longer bounded by it.
 *
 * A key needs the scope `manage`.
 */
export const deleteQuota = <ThrowOnError extends boolean = true>(options: Options<DeleteQuotaData, ThrowOnError>): RequestResult<DeleteQuotaResponses, DeleteQuotaErrors, ThrowOnError, 'data'> => options.client.delete<DeleteQuotaResponses, DeleteQuotaErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quotas/{prefix}',
    ...options
});

/**
 * Read the quota of a customer
 *
 * Shows the bounds, and what exists of the topics whose names begin with the prefix.
 *
 * A key needs the scope `read`.
 */
export const getQuota = <ThrowOnError extends boolean = true>(options: Options<GetQuotaData, ThrowOnError>): RequestResult<GetQuotaResponses, GetQuotaErrors, ThrowOnError, 'data'> => options.client.get<GetQuotaResponses, GetQuotaErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quotas/{prefix}',
    ...options
});

/**
 * Bound what a customer may have
 *
 * Bounds topics, subscriptions and stored bytes of all topics whose names begin with the prefix. Creations and publishes past it get 403 `quota_exceeded`; what exists already stays. Stored bytes are compared every 5 s.
 *
 * A key needs the scope `manage`.
 */
export const putQuota = <ThrowOnError extends boolean = true>(options: Options<PutQuotaData, ThrowOnError>): RequestResult<PutQuotaResponses, PutQuotaErrors, ThrowOnError, 'data'> => options.client.put<PutQuotaResponses, PutQuotaErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/quotas/{prefix}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * End the session of the console
 *
 * Other processes refuse it within 100 ms. A caller without a session gets the same answer.
 */
export const logOut = <ThrowOnError extends boolean = true>(options: Options<LogOutData, ThrowOnError>): RequestResult<LogOutResponses, LogOutErrors, ThrowOnError, 'data'> => options.client.delete<LogOutResponses, LogOutErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/session',
    ...options
});

/**
 * Read who the caller is
 *
 * Shows the key that the caller acts with, and what a session needs for its further requests.
 */
export const getSession = <ThrowOnError extends boolean = true>(options: Options<GetSessionData, ThrowOnError>): RequestResult<GetSessionResponses, GetSessionErrors, ThrowOnError, 'data'> => options.client.get<GetSessionResponses, GetSessionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/session',
    ...options
});

/**
 * Make a session of the console
 *
 * For pages of this server, over TLS or on loopback. The answer sets a cookie. The session ends after an hour without a request, after 12 hours, or with its key. Five failed logins a minute are allowed for each address.
 */
export const logIn = <ThrowOnError extends boolean = true>(options: Options<LogInData, ThrowOnError>): RequestResult<LogInResponses, LogInErrors, ThrowOnError, 'data'> => options.client.post<LogInResponses, LogInErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/v1/session',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the sessions of console and portal
 *
 * Sessions of keys of the caller’s account, at most 2,000. They have no tokens.
 *
 * A key needs the scope `manage`.
 */
export const listSessions = <ThrowOnError extends boolean = true>(options: Options<ListSessionsData, ThrowOnError>): RequestResult<ListSessionsResponses, ListSessionsErrors, ThrowOnError, 'data'> => options.client.get<ListSessionsResponses, ListSessionsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sessions',
    ...options
});

/**
 * End a session of the console or the portal
 *
 * All processes refuse it within 100 ms. The id of a portal link ends its session, and the link if nobody has opened it. An unknown one gets the same answer.
 *
 * A key needs the scope `manage`.
 */
export const endSession = <ThrowOnError extends boolean = true>(options: Options<EndSessionData, ThrowOnError>): RequestResult<EndSessionResponses, EndSessionErrors, ThrowOnError, 'data'> => options.client.delete<EndSessionResponses, EndSessionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sessions/{session}',
    ...options
});

/**
 * Make a link that opens the portal for a customer
 *
 * The link works once, within ten minutes. Its session can do what `scopes` say, and at no time more than the caller’s key may. It ends when the key is revoked.
 *
 * A key needs the scope `manage`.
 */
export const createPortalLink = <ThrowOnError extends boolean = true>(options: Options<CreatePortalLinkData, ThrowOnError>): RequestResult<CreatePortalLinkResponses, CreatePortalLinkErrors, ThrowOnError, 'data'> => options.client.post<CreatePortalLinkResponses, CreatePortalLinkErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/portal-links',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * End this portal session
 *
 * All processes refuse its token within 100 ms.
 */
export const endPortalSession = <ThrowOnError extends boolean = true>(options: Options<EndPortalSessionData, ThrowOnError>): RequestResult<EndPortalSessionResponses, EndPortalSessionErrors, ThrowOnError, 'data'> => options.client.delete<EndPortalSessionResponses, EndPortalSessionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/session',
    ...options
});

/**
 * Read what this portal session may do
 *
 * Shows scopes, theme and end of the session. For tokens of portal sessions.
 */
export const getPortalSession = <ThrowOnError extends boolean = true>(options: Options<GetPortalSessionData, ThrowOnError>): RequestResult<GetPortalSessionResponses, GetPortalSessionErrors, ThrowOnError, 'data'> => options.client.get<GetPortalSessionResponses, GetPortalSessionErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/session',
    ...options
});

/**
 * Redeem a portal link for a session
 *
 * The page of the portal does this with the token behind the `#`. A second try answers 401.
 */
export const redeemPortalLink = <ThrowOnError extends boolean = true>(options: Options<RedeemPortalLinkData, ThrowOnError>): RequestResult<RedeemPortalLinkResponses, RedeemPortalLinkErrors, ThrowOnError, 'data'> => options.client.post<RedeemPortalLinkResponses, RedeemPortalLinkErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/v1/portal/session',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the topics of the portal session
 *
 * Names of topics to which it may add endpoints. For a session for single subscriptions, the topics of these.
 *
 * A portal session needs the scope `read`.
 */
export const listPortalTopics = <ThrowOnError extends boolean = true>(options: Options<ListPortalTopicsData, ThrowOnError>): RequestResult<ListPortalTopicsResponses, ListPortalTopicsErrors, ThrowOnError, 'data'> => options.client.get<ListPortalTopicsResponses, ListPortalTopicsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/topics',
    ...options
});

/**
 * List the endpoints of the portal session
 *
 * Webhooks of its topics, or the subscriptions that it is for. Conditions of the query must all hold. With them a page may be short or empty and still have a cursor.
 *
 * A portal session needs the scope `read`.
 */
export const listPortalEndpoints = <ThrowOnError extends boolean = true>(options: Options<ListPortalEndpointsData, ThrowOnError>): RequestResult<ListPortalEndpointsResponses, ListPortalEndpointsErrors, ThrowOnError, 'data'> => options.client.get<ListPortalEndpointsResponses, ListPortalEndpointsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints',
    ...options
});

/**
 * Add a webhook to a topic of the portal session
 *
 * Every request to it is signed, with the secret in the answer. Settings of requests cannot be given. A session may add 20 in an hour, and none to a topic with 50 subscriptions.
 *
 * A portal session needs the scope `manage`.
 */
export const addPortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<AddPortalEndpointData, ThrowOnError>): RequestResult<AddPortalEndpointResponses, AddPortalEndpointErrors, ThrowOnError, 'data'> => options.client.post<AddPortalEndpointResponses, AddPortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete an endpoint of the portal session
 *
 * Deliveries that wait for it are discarded.
 *
 * A portal session needs the scope `manage`.
 */
export const deletePortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<DeletePortalEndpointData, ThrowOnError>): RequestResult<DeletePortalEndpointResponses, DeletePortalEndpointErrors, ThrowOnError, 'data'> => options.client.delete<DeletePortalEndpointResponses, DeletePortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}',
    ...options
});

/**
 * Read an endpoint of the portal session
 *
 * Shows its state and the deliveries that wait for it.
 *
 * A portal session needs the scope `read`.
 */
export const getPortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<GetPortalEndpointData, ThrowOnError>): RequestResult<GetPortalEndpointResponses, GetPortalEndpointErrors, ThrowOnError, 'data'> => options.client.get<GetPortalEndpointResponses, GetPortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}',
    ...options
});

/**
 * Change the address, name, event types or rate of an endpoint
 *
 * `endpoint` moves it: what waits for it goes to the new address. If the endpoint had to confirm, the new address is asked first, and is `pendingEndpoint` until then. A filter of the service applies in addition to the event types, and its rate in addition to `maxPerSecond`.
 *
 * A portal session needs the scope `manage`.
 */
export const changePortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<ChangePortalEndpointData, ThrowOnError>): RequestResult<ChangePortalEndpointResponses, ChangePortalEndpointErrors, ThrowOnError, 'data'> => options.client.patch<ChangePortalEndpointResponses, ChangePortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the event types of a topic of the portal session
 *
 * The types of the catalogue, which an endpoint of the topic can choose.
 *
 * A portal session needs the scope `read`.
 */
export const listPortalEventTypes = <ThrowOnError extends boolean = true>(options: Options<ListPortalEventTypesData, ThrowOnError>): RequestResult<ListPortalEventTypesResponses, ListPortalEventTypesErrors, ThrowOnError, 'data'> => options.client.get<ListPortalEventTypesResponses, ListPortalEventTypesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/topics/{topic}/event-types',
    ...options
});

/**
 * Read an event type of a topic of the portal session
 *
 * Shows its newest schema, and its examples.
 *
 * A portal session needs the scope `read`.
 */
export const getPortalEventType = <ThrowOnError extends boolean = true>(options: Options<GetPortalEventTypeData, ThrowOnError>): RequestResult<GetPortalEventTypeResponses, GetPortalEventTypeErrors, ThrowOnError, 'data'> => options.client.get<GetPortalEventTypeResponses, GetPortalEventTypeErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/topics/{topic}/event-types/{name}',
    ...options
});

/**
 * Stop attempts at an endpoint
 *
 * New messages wait for it. Pausing a paused endpoint changes nothing.
 *
 * A portal session needs the scope `manage`.
 */
export const pausePortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<PausePortalEndpointData, ThrowOnError>): RequestResult<PausePortalEndpointResponses, PausePortalEndpointErrors, ThrowOnError, 'data'> => options.client.post<PausePortalEndpointResponses, PausePortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/pause',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Continue attempts at an endpoint
 *
 * Waiting deliveries are attempted again. Resuming an active endpoint changes nothing. An endpoint without a key needs one first.
 *
 * A portal session needs the scope `manage`.
 */
export const resumePortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<ResumePortalEndpointData, ThrowOnError>): RequestResult<ResumePortalEndpointResponses, ResumePortalEndpointErrors, ThrowOnError, 'data'> => options.client.post<ResumePortalEndpointResponses, ResumePortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/resume',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Send one test message to an endpoint
 *
 * Also an example of an event type. Nothing is retried or counted. A session may make ten tests in a minute.
 *
 * A portal session needs the scope `manage`.
 */
export const testPortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<TestPortalEndpointData, ThrowOnError>): RequestResult<TestPortalEndpointResponses, TestPortalEndpointErrors, ThrowOnError, 'data'> => options.client.post<TestPortalEndpointResponses, TestPortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/test',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Make a new key for signatures of an endpoint
 *
 * Earlier keys still sign for a day. The secret is in this answer and in no other.
 *
 * A portal session needs the scope `manage`.
 */
export const rotatePortalKey = <ThrowOnError extends boolean = true>(options: Options<RotatePortalKeyData, ThrowOnError>): RequestResult<RotatePortalKeyResponses, RotatePortalKeyErrors, ThrowOnError, 'data'> => options.client.post<RotatePortalKeyResponses, RotatePortalKeyErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/rotate-key',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the latest messages to an endpoint
 *
 * From the outcome log, newest first. A page may be short or empty and still have a cursor. `scannedTo` says how far it looked.
 *
 * A portal session needs the scope `read`.
 */
export const listPortalMessages = <ThrowOnError extends boolean = true>(options: Options<ListPortalMessagesData, ThrowOnError>): RequestResult<ListPortalMessagesResponses, ListPortalMessagesErrors, ThrowOnError, 'data'> => options.client.get<ListPortalMessagesResponses, ListPortalMessagesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/messages',
    ...options
});

/**
 * Read a message to an endpoint, with its attempts
 *
 * Only messages that were sent to this endpoint. Text and answers need the scope bodies. A session may read 60 in a minute.
 *
 * A portal session needs the scope `read`.
 */
export const getPortalMessage = <ThrowOnError extends boolean = true>(options: Options<GetPortalMessageData, ThrowOnError>): RequestResult<GetPortalMessageResponses, GetPortalMessageErrors, ThrowOnError, 'data'> => options.client.get<GetPortalMessageResponses, GetPortalMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/messages/{messageId}',
    ...options
});

/**
 * Send a message to an endpoint again
 *
 * Only messages that were sent to this endpoint before, and whose text is stored. A session may send 60 in an hour.
 *
 * A portal session needs the scope `redrive`.
 */
export const resendPortalMessage = <ThrowOnError extends boolean = true>(options: Options<ResendPortalMessageData, ThrowOnError>): RequestResult<ResendPortalMessageResponses, ResendPortalMessageErrors, ThrowOnError, 'data'> => options.client.post<ResendPortalMessageResponses, ResendPortalMessageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/messages/{messageId}/resend',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List recorded attempts at an endpoint
 *
 * Failed attempts, unless the topic records others. Answers of the endpoint need the scope bodies.
 *
 * A portal session needs the scope `read`.
 */
export const listPortalAttempts = <ThrowOnError extends boolean = true>(options: Options<ListPortalAttemptsData, ThrowOnError>): RequestResult<ListPortalAttemptsResponses, ListPortalAttemptsErrors, ThrowOnError, 'data'> => options.client.get<ListPortalAttemptsResponses, ListPortalAttemptsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/attempts',
    ...options
});

/**
 * List messages of an endpoint that could not be delivered
 *
 * Only dead letters of this endpoint. Without the scope bodies their texts are left out. A session may list 60 times in a minute.
 *
 * A portal session needs the scope `read`.
 */
export const listPortalDeadLetters = <ThrowOnError extends boolean = true>(options: Options<ListPortalDeadLettersData, ThrowOnError>): RequestResult<ListPortalDeadLettersResponses, ListPortalDeadLettersErrors, ThrowOnError, 'data'> => options.client.get<ListPortalDeadLettersResponses, ListPortalDeadLettersErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/dead-letters',
    ...options
});

/**
 * Read the figures of a week of an endpoint
 *
 * By hour, up to now. A worker adds what it has counted once a minute.
 *
 * A portal session needs the scope `read`.
 */
export const getPortalStats = <ThrowOnError extends boolean = true>(options: Options<GetPortalStatsData, ThrowOnError>): RequestResult<GetPortalStatsResponses, GetPortalStatsErrors, ThrowOnError, 'data'> => options.client.get<GetPortalStatsResponses, GetPortalStatsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/stats',
    ...options
});

/**
 * Send all failed messages of an endpoint again
 *
 * At most ten a second. Answers at once; the redrive continues by itself. A redrive or purge that an API key starts ends it: letters that it has not sent yet stay. A session may start 60 in an hour, and count 60 times in a minute.
 *
 * A portal session needs the scope `redrive`.
 */
export const redrivePortalEndpoint = <ThrowOnError extends boolean = true>(options: Options<RedrivePortalEndpointData, ThrowOnError>): RequestResult<RedrivePortalEndpointResponses, RedrivePortalEndpointErrors, ThrowOnError, 'data'> => options.client.post<RedrivePortalEndpointResponses, RedrivePortalEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'portalSession',
            scheme: 'bearer',
            type: 'http'
        }],
    url: '/v1/portal/endpoints/{id}/redrive',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List requested changes, made or refused
 *
 * The lines of the audit log, newest first: who asked for which change of what, and its result. They have no secrets, bodies or settings. A key with prefixes sees its own lines, any other key those of its account. A key of the server’s account also sees lines of callers without a key. `scannedTo` says how far a page looked.
 *
 * A key needs the scope `manage`.
 */
export const listAudit = <ThrowOnError extends boolean = true>(options: Options<ListAuditData, ThrowOnError>): RequestResult<ListAuditResponses, ListAuditErrors, ThrowOnError, 'data'> => options.client.get<ListAuditResponses, ListAuditErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/audit',
    ...options
});

/**
 * List platform applications
 *
 * Applications of all accounts, sorted by ARN. A key sees only those that it may see.
 *
 * A key needs the scope `read`.
 */
export const listPlatformApplications = <ThrowOnError extends boolean = true>(options: Options<ListPlatformApplicationsData, ThrowOnError>): RequestResult<ListPlatformApplicationsResponses, ListPlatformApplicationsErrors, ThrowOnError, 'data'> => options.client.get<ListPlatformApplicationsResponses, ListPlatformApplicationsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications',
    ...options
});

/**
 * Delete a platform application with its endpoints
 *
 * Deleting again answers the same.
 *
 * A key needs the scope `manage`.
 */
export const deletePlatformApplication = <ThrowOnError extends boolean = true>(options: Options<DeletePlatformApplicationData, ThrowOnError>): RequestResult<DeletePlatformApplicationResponses, DeletePlatformApplicationErrors, ThrowOnError, 'data'> => options.client.delete<DeletePlatformApplicationResponses, DeletePlatformApplicationErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}',
    ...options
});

/**
 * Read a platform application
 *
 * Shows its settings. The credential is never shown.
 *
 * A key needs the scope `read`.
 */
export const getPlatformApplication = <ThrowOnError extends boolean = true>(options: Options<GetPlatformApplicationData, ThrowOnError>): RequestResult<GetPlatformApplicationResponses, GetPlatformApplicationErrors, ThrowOnError, 'data'> => options.client.get<GetPlatformApplicationResponses, GetPlatformApplicationErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}',
    ...options
});

/**
 * Create a platform application, or set the members given
 *
 * A new application needs the whole credential of its platform. If the application exists, the members given are set and the others stay.
 *
 * A key needs the scope `manage`.
 */
export const putPlatformApplication = <ThrowOnError extends boolean = true>(options: Options<PutPlatformApplicationData, ThrowOnError>): RequestResult<PutPlatformApplicationResponses, PutPlatformApplicationErrors, ThrowOnError, 'data'> => options.client.put<PutPlatformApplicationResponses, PutPlatformApplicationErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the endpoints of a platform application
 *
 * Sorted by id.
 *
 * A key needs the scope `read`.
 */
export const listPlatformEndpoints = <ThrowOnError extends boolean = true>(options: Options<ListPlatformEndpointsData, ThrowOnError>): RequestResult<ListPlatformEndpointsResponses, ListPlatformEndpointsErrors, ThrowOnError, 'data'> => options.client.get<ListPlatformEndpointsResponses, ListPlatformEndpointsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}/endpoints',
    ...options
});

/**
 * Register a device or browser
 *
 * A token has one endpoint. A request with the same token and members gives the same endpoint, so it can be repeated. A disabled endpoint stays disabled.
 *
 * A key needs the scope `manage`.
 */
export const createPlatformEndpoint = <ThrowOnError extends boolean = true>(options: Options<CreatePlatformEndpointData, ThrowOnError>): RequestResult<CreatePlatformEndpointResponses, CreatePlatformEndpointErrors, ThrowOnError, 'data'> => options.client.post<CreatePlatformEndpointResponses, CreatePlatformEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}/endpoints',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete an endpoint
 *
 * Its subscriptions stay, and their deliveries fail. Deleting again answers the same.
 *
 * A key needs the scope `manage`.
 */
export const deletePlatformEndpoint = <ThrowOnError extends boolean = true>(options: Options<DeletePlatformEndpointData, ThrowOnError>): RequestResult<DeletePlatformEndpointResponses, DeletePlatformEndpointErrors, ThrowOnError, 'data'> => options.client.delete<DeletePlatformEndpointResponses, DeletePlatformEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}/endpoints/{id}',
    ...options
});

/**
 * Read an endpoint of a platform application
 *
 * Shows its token, and whether it is enabled.
 *
 * A key needs the scope `read`.
 */
export const getPlatformEndpoint = <ThrowOnError extends boolean = true>(options: Options<GetPlatformEndpointData, ThrowOnError>): RequestResult<GetPlatformEndpointResponses, GetPlatformEndpointErrors, ThrowOnError, 'data'> => options.client.get<GetPlatformEndpointResponses, GetPlatformEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}/endpoints/{id}',
    ...options
});

/**
 * Set the given members of an endpoint
 *
 * A provider that refuses its token disables an endpoint. `enabled: true` enables it again.
 *
 * A key needs the scope `manage`.
 */
export const updatePlatformEndpoint = <ThrowOnError extends boolean = true>(options: Options<UpdatePlatformEndpointData, ThrowOnError>): RequestResult<UpdatePlatformEndpointResponses, UpdatePlatformEndpointErrors, ThrowOnError, 'data'> => options.client.patch<UpdatePlatformEndpointResponses, UpdatePlatformEndpointErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/platform-applications/{platform}/{name}/endpoints/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the addresses that get no mail
 *
 * The list is one for the server, as all mails go out through one SMTP server.
 *
 * A key needs the scope `manage`.
 */
export const listSuppressions = <ThrowOnError extends boolean = true>(options: Options<ListSuppressionsData, ThrowOnError>): RequestResult<ListSuppressionsResponses, ListSuppressionsErrors, ThrowOnError, 'data'> => options.client.get<ListSuppressionsResponses, ListSuppressionsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/email/suppressions',
    ...options
});

/**
 * Take an address from the suppression list
 *
 * The address gets mail again. A redrive delivers the messages that were dead-lettered before.
 *
 * A key needs the scope `manage`.
 */
export const releaseAddress = <ThrowOnError extends boolean = true>(options: Options<ReleaseAddressData, ThrowOnError>): RequestResult<ReleaseAddressResponses, ReleaseAddressErrors, ThrowOnError, 'data'> => options.client.delete<ReleaseAddressResponses, ReleaseAddressErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/email/suppressions/{address}',
    ...options
});

/**
 * Put an address on the suppression list
 *
 * Deliveries to it then fail permanently. Nothing is sent, and they go to the dead-letter queue. An address that is on the list stays there as it is.
 *
 * A key needs the scope `manage`.
 */
export const suppressAddress = <ThrowOnError extends boolean = true>(options: Options<SuppressAddressData, ThrowOnError>): RequestResult<SuppressAddressResponses, SuppressAddressErrors, ThrowOnError, 'data'> => options.client.put<SuppressAddressResponses, SuppressAddressErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/email/suppressions/{address}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Import bounces and complaints
 *
 * Puts the addresses of permanent bounces and of complaints on the suppression list. Call it from the webhook of your mail provider, or with what you read from returned mails.
 *
 * A key needs the scope `manage`.
 */
export const importBounces = <ThrowOnError extends boolean = true>(options: Options<ImportBouncesData, ThrowOnError>): RequestResult<ImportBouncesResponses, ImportBouncesErrors, ThrowOnError, 'data'> => options.client.post<ImportBouncesResponses, ImportBouncesErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/email/bounces',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * The page of a confirmation mail’s link
 *
 * Shows a button that confirms. With `FANTAIL_EMAIL_CONFIRM_ON_GET` the link itself confirms, as on AWS.
 */
export const showConfirmation = <ThrowOnError extends boolean = true>(options: Options<ShowConfirmationData, ThrowOnError>): RequestResult<ShowConfirmationResponses, ShowConfirmationErrors, ThrowOnError, 'data'> => options.client.get<ShowConfirmationResponses, ShowConfirmationErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/confirmation.html',
    ...options
});

/**
 * Confirm a subscription by the page’s button
 *
 * Its address gets the messages of the topic from now on. A second time has the same result.
 */
export const confirmByLink = <ThrowOnError extends boolean = true>(options: Options<ConfirmByLinkData, ThrowOnError>): RequestResult<ConfirmByLinkResponses, ConfirmByLinkErrors, ThrowOnError, 'data'> => options.client.post<ConfirmByLinkResponses, ConfirmByLinkErrors, ThrowOnError, 'data'>({
    ...urlSearchParamsBodySerializer,
    responseStyle: 'data',
    url: '/confirmation.html',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * The page of a mail’s unsubscribe link
 *
 * Shows a button that unsubscribes.
 */
export const showUnsubscribe = <ThrowOnError extends boolean = true>(options: Options<ShowUnsubscribeData, ThrowOnError>): RequestResult<ShowUnsubscribeResponses, ShowUnsubscribeErrors, ThrowOnError, 'data'> => options.client.get<ShowUnsubscribeResponses, ShowUnsubscribeErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/unsubscribe.html',
    ...options
});

/**
 * Unsubscribe by the page’s button, or by one click of a mail program
 *
 * Removes the subscription and sends a mail whose link restores it within 48 hours. The answer is the same for a subscription that is gone.
 */
export const unsubscribeByLink = <ThrowOnError extends boolean = true>(options: Options<UnsubscribeByLinkData, ThrowOnError>): RequestResult<UnsubscribeByLinkResponses, UnsubscribeByLinkErrors, ThrowOnError, 'data'> => options.client.post<UnsubscribeByLinkResponses, UnsubscribeByLinkErrors, ThrowOnError, 'data'>({
    ...urlSearchParamsBodySerializer,
    responseStyle: 'data',
    url: '/unsubscribe.html',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * Read the settings and the spend of text messages
 *
 * They are the server’s. The spend counts what was reserved for messages that may have been sent.
 *
 * A key needs the scope `sms`.
 */
export const getSms = <ThrowOnError extends boolean = true>(options: Options<GetSmsData, ThrowOnError>): RequestResult<GetSmsResponses, GetSmsErrors, ThrowOnError, 'data'> => options.client.get<GetSmsResponses, GetSmsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sms',
    ...options
});

/**
 * Change the settings of text messages
 *
 * The same as SetSMSAttributes of the AWS protocol.
 *
 * A key needs the scope `sms`.
 */
export const changeSms = <ThrowOnError extends boolean = true>(options: Options<ChangeSmsData, ThrowOnError>): RequestResult<ChangeSmsResponses, ChangeSmsErrors, ThrowOnError, 'data'> => options.client.patch<ChangeSmsResponses, ChangeSmsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sms',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the phone numbers that are opted out
 *
 * The list is one for the server, as all messages go out through one provider.
 *
 * A key needs the scope `sms`.
 */
export const listOptOuts = <ThrowOnError extends boolean = true>(options: Options<ListOptOutsData, ThrowOnError>): RequestResult<ListOptOutsResponses, ListOptOutsErrors, ThrowOnError, 'data'> => options.client.get<ListOptOutsResponses, ListOptOutsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sms/opt-outs',
    ...options
});

/**
 * Opt a phone number in
 *
 * The number gets messages again. A redrive delivers the messages that were dead-lettered before.
 *
 * A key needs the scope `sms`.
 */
export const optIn = <ThrowOnError extends boolean = true>(options: Options<OptInData, ThrowOnError>): RequestResult<OptInResponses, OptInErrors, ThrowOnError, 'data'> => options.client.delete<OptInResponses, OptInErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sms/opt-outs/{number}',
    ...options
});

/**
 * Ask whether a phone number is opted out
 *
 * It is if its owner asked the provider or you for that.
 *
 * A key needs the scope `sms`.
 */
export const getOptOut = <ThrowOnError extends boolean = true>(options: Options<GetOptOutData, ThrowOnError>): RequestResult<GetOptOutResponses, GetOptOutErrors, ThrowOnError, 'data'> => options.client.get<GetOptOutResponses, GetOptOutErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sms/opt-outs/{number}',
    ...options
});

/**
 * Opt a phone number out
 *
 * Deliveries to it then fail permanently, and nothing is sent. Call it when the owner of the number answers STOP. Its subscriptions stay.
 *
 * A key needs the scope `sms`.
 */
export const optOut = <ThrowOnError extends boolean = true>(options: Options<OptOutData, ThrowOnError>): RequestResult<OptOutResponses, OptOutErrors, ThrowOnError, 'data'> => options.client.put<OptOutResponses, OptOutErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/v1/sms/opt-outs/{number}',
    ...options
});

/**
 * Whether the process lives
 *
 * For liveness probes. It asks nothing of Redis.
 */
export const getHealth = <ThrowOnError extends boolean = true>(options: Options<GetHealthData, ThrowOnError>): RequestResult<GetHealthResponses, GetHealthErrors, ThrowOnError, 'data'> => options.client.get<GetHealthResponses, GetHealthErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/healthz',
    ...options
});

/**
 * Whether the process can do its work now
 *
 * For readiness probes and load balancers: every check must be `ok`. The log has the reasons. A process that works is `degraded` where Redis would lose messages or refuses them: the answer stays 200, and names the reasons.
 */
export const getReadiness = <ThrowOnError extends boolean = true>(options: Options<GetReadinessData, ThrowOnError>): RequestResult<GetReadinessResponses, GetReadinessErrors, ThrowOnError, 'data'> => options.client.get<GetReadinessResponses, GetReadinessErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/readyz',
    ...options
});

/**
 * Metrics for Prometheus
 *
 * In the text format that Prometheus scrapes. Each process has metrics of its own.
 *
 * A key needs the scope `read`.
 */
export const getMetrics = <ThrowOnError extends boolean = true>(options: Options<GetMetricsData, ThrowOnError>): RequestResult<GetMetricsResponses, GetMetricsErrors, ThrowOnError, 'data'> => options.client.get<GetMetricsResponses, GetMetricsErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{
            key: 'apiKey',
            scheme: 'bearer',
            type: 'http'
        }, {
            in: 'cookie',
            name: '__Host-fantail',
            type: 'apiKey'
        }],
    url: '/metrics',
    ...options
});

/**
 * Follow a link, or call by AWS Query
 *
 * The confirm and unsubscribe links of delivered messages are such requests. Parameters are in the query: `Action`, …
 */
export const followAwsLink = <ThrowOnError extends boolean = true>(options: Options<FollowAwsLinkData, ThrowOnError>): RequestResult<FollowAwsLinkResponses, FollowAwsLinkErrors, ThrowOnError, 'data'> => options.client.get<FollowAwsLinkResponses, FollowAwsLinkErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{ name: 'Authorization', type: 'apiKey' }],
    url: '/',
    ...options
});

/**
 * Call Amazon SNS or SQS by their own protocols
 *
 * AWS SDKs and the AWS CLI send such requests. AWS Query has the `Version` 2010-03-31 for SNS, 2012-11-05 for SQS, and 2011-06-15 for GetCallerIdentity of STS. AWS JSON 1.0 for SQS has `X-Amz-Target: AmazonSQS.{Operation}`. Errors come in the same form, with the codes of the service.
 */
export const callAws = <ThrowOnError extends boolean = true>(options: Options<CallAwsData, ThrowOnError>): RequestResult<CallAwsResponses, CallAwsErrors, ThrowOnError, 'data'> => options.client.post<CallAwsResponses, CallAwsErrors, ThrowOnError, 'data'>({
    ...urlSearchParamsBodySerializer,
    responseStyle: 'data',
    security: [{ name: 'Authorization', type: 'apiKey' }],
    url: '/',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * Call SQS on a queue’s URL by AWS Query in the URL
 *
 * The queue’s URL replaces the parameter `QueueUrl`. Older AWS clients call queues in this way. Answers are XML.
 */
export const callAwsQueueByLink = <ThrowOnError extends boolean = true>(options: Options<CallAwsQueueByLinkData, ThrowOnError>): RequestResult<CallAwsQueueByLinkResponses, CallAwsQueueByLinkErrors, ThrowOnError, 'data'> => options.client.get<CallAwsQueueByLinkResponses, CallAwsQueueByLinkErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    security: [{ name: 'Authorization', type: 'apiKey' }],
    url: '/{account}/{queue}',
    ...options
});

/**
 * Call SQS on a queue’s URL by AWS Query
 *
 * The queue’s URL replaces the parameter `QueueUrl`. Older AWS clients call queues in this way. Answers are XML.
 */
export const callAwsQueue = <ThrowOnError extends boolean = true>(options: Options<CallAwsQueueData, ThrowOnError>): RequestResult<CallAwsQueueResponses, CallAwsQueueErrors, ThrowOnError, 'data'> => options.client.post<CallAwsQueueResponses, CallAwsQueueErrors, ThrowOnError, 'data'>({
    ...urlSearchParamsBodySerializer,
    responseStyle: 'data',
    security: [{ name: 'Authorization', type: 'apiKey' }],
    url: '/{account}/{queue}',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * Get a certificate that messages are signed with
 *
 * `SigningCertURL` of signed messages names it. A certificate never changes under its name, so it may be cached.
 */
export const getSigningCertificate = <ThrowOnError extends boolean = true>(options: Options<GetSigningCertificateData, ThrowOnError>): RequestResult<GetSigningCertificateResponses, GetSigningCertificateErrors, ThrowOnError, 'data'> => options.client.get<GetSigningCertificateResponses, GetSigningCertificateErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/SimpleNotificationService-{name}.pem',
    ...options
});

/**
 * The OpenAPI document
 *
 * This document, in OpenAPI 3.1. It is made from the routes that the server has.
 */
export const getOpenApiDocument = <ThrowOnError extends boolean = true>(options: Options<GetOpenApiDocumentData, ThrowOnError>): RequestResult<GetOpenApiDocumentResponses, GetOpenApiDocumentErrors, ThrowOnError, 'data'> => options.client.get<GetOpenApiDocumentResponses, GetOpenApiDocumentErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/openapi.json',
    ...options
});

/**
 * The documentation as a page
 *
 * Shows the OpenAPI document in a browser. Everything the page loads comes from this server.
 */
export const getDocsPage = <ThrowOnError extends boolean = true>(options: Options<GetDocsPageData, ThrowOnError>): RequestResult<GetDocsPageResponses, GetDocsPageErrors, ThrowOnError, 'data'> => options.client.get<GetDocsPageResponses, GetDocsPageErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/docs',
    ...options
});

/**
 * Starts the documentation page
 *
 * A script of the documentation page, which says where the document is.
 */
export const getDocsScript = <ThrowOnError extends boolean = true>(options: Options<GetDocsScriptData, ThrowOnError>): RequestResult<GetDocsScriptResponses, GetDocsScriptErrors, ThrowOnError, 'data'> => options.client.get<GetDocsScriptResponses, GetDocsScriptErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/_assets/docs.js',
    ...options
});

/**
 * Scalar, which renders the documentation
 *
 * A script of the documentation page, of several megabytes.
 */
export const getDocsRenderer = <ThrowOnError extends boolean = true>(options: Options<GetDocsRendererData, ThrowOnError>): RequestResult<GetDocsRendererResponses, GetDocsRendererErrors, ThrowOnError, 'data'> => options.client.get<GetDocsRendererResponses, GetDocsRendererErrors, ThrowOnError, 'data'>({
    responseStyle: 'data',
    url: '/_assets/scalar.js',
    ...options
});
