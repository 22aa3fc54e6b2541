import fantail.ApiClient;
import fantail.ApiException;
import fantail.JSON;
import fantail.api.MessagesApi;
import fantail.api.TopicsApi;
import fantail.auth.HttpBearerAuth;
import fantail.model.Error;
import fantail.model.ErrorError;
import fantail.model.MessageAttribute;
import fantail.model.MessageBatchInput;
import fantail.model.MessageInput;
import fantail.model.PublishAnswer;
import fantail.model.PublishInput;
import fantail.model.TopicInput;
import fantail.model.TopicList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Calls the API by the client that openapi-generator made: publish, repeat, list, and be refused. */
public class Walk {
  private static final String PREFIX = "walk-java-";
  private static final ApiClient client = new ApiClient();
  private static final MessagesApi messages = new MessagesApi(client);
  private static final TopicsApi topics = new TopicsApi(client);

  public static void main(String[] args) throws ApiException {
    client.setBasePath(System.getenv().getOrDefault("FANTAIL_URL", "http://127.0.0.1:4100"));
    String token = System.getenv("FANTAIL_API_KEY");
    if (token != null) ((HttpBearerAuth) client.getAuthentication("apiKey")).setBearerToken(token);

    for (int n = 0; n < 3; n++) topics.createTopic(PREFIX + n, new TopicInput().displayName("A walk"));

    Map<String, MessageAttribute> attributes = Map.of("color", new MessageAttribute("red"));
    MessageInput content = new MessageInput().message(Map.of("order", 7)).attributes(attributes);
    PublishInput order = new PublishInput(content);
    UUID first = send("0", null, order);
    List<MessageInput> two = List.of(new MessageInput().message("a"), new MessageInput().message("b"));
    PublishInput batch = new PublishInput(new MessageBatchInput().messages(two));
    int results = publish("0", null, batch).getPublishReceiptList().getResults().size();
    expect(first != null);
    System.out.printf("published 1 message, then %d at once%n", results);

    String key = UUID.randomUUID().toString();
    expect(send("0", key, order).equals(send("0", key, order)));
    System.out.println("the same key gave the same id");

    int listed = 0;
    int pages = 0;
    String cursor = null;
    do {
      TopicList page = topics.listTopics(PREFIX, 2, cursor);
      listed += page.getTopics().size();
      cursor = page.getNextCursor();
      pages++;
    } while (cursor != null);
    System.out.printf("listed %d topics on %d pages%n", listed, pages);

    ErrorError lost = refusal("lost", null, order);
    ErrorError other = refusal("0", key, new PublishInput(new MessageInput().message("other")));
    ErrorError empty = refusal("0", null, new PublishInput(new MessageInput().message("")));
    System.out.printf(
        "refused: %s, %s, %s at %s%n",
        lost.getCode(), other.getCode(), empty.getCode(), empty.getDetails().get(0).getPath());
  }

  private static PublishAnswer publish(String topic, String key, PublishInput input)
      throws ApiException {
    return messages.publish(PREFIX + topic, input, null, null, null, key);
  }

  private static UUID send(String topic, String key, PublishInput input) throws ApiException {
    return publish(topic, key, input).getPublishReceipt().getMessageId();
  }

  private static ErrorError refusal(String topic, String key, PublishInput input) {
    try {
      publish(topic, key, input);
    } catch (ApiException refused) {
      Error answer = JSON.deserialize(refused.getResponseBody(), Error.class);
      return answer.getError();
    }
    throw new AssertionError("it was not refused");
  }

  private static void expect(boolean isTrue) {
    if (!isTrue) throw new AssertionError("the answer is another one");
  }
}
