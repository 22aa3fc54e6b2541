// Calls the API by the client that oapi-codegen made: publish, repeat, list, and be refused.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"example.com/generated-go/fantail"
)

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.json

const prefix = "walk-go-"

var ctx = context.Background()

func main() {
	client, err := fantail.NewClientWithResponses(address(), fantail.WithRequestEditorFn(withKey))
	check(err)
	send := func(topic string, key *string, input fantail.PublishInput) *fantail.PublishResponse {
		answer, err := client.PublishWithResponse(ctx, prefix+topic, &fantail.PublishParams{IdempotencyKey: key}, input)
		check(err)
		return answer
	}

	name := "A walk"
	for n := range 3 {
		answer, err := client.CreateTopicWithResponse(ctx, prefix+strconv.Itoa(n), fantail.TopicInput{DisplayName: &name})
		check(err)
		expect(answer.StatusCode() < 300)
	}

	var color fantail.MessageAttribute
	check(color.FromMessageAttribute0("red"))
	order := one(map[string]any{"order": 7}, &fantail.MessageAttributes{"color": color})
	first, err := send("0", nil, order).JSON202.AsPublishReceipt()
	check(err)
	expect(first.MessageId.String() != "")
	batch, err := send("0", nil, several("a", "b")).JSON202.AsPublishReceiptList()
	check(err)
	fmt.Printf("published 1 message, then %d at once\n", len(batch.Results))

	key := strconv.FormatInt(time.Now().UnixNano(), 36)
	once, err := send("0", &key, order).JSON202.AsPublishReceipt()
	check(err)
	repeated := send("0", &key, order)
	again, err := repeated.JSON202.AsPublishReceipt()
	check(err)
	expect(once.MessageId == again.MessageId)
	expect(repeated.HTTPResponse.Header.Get("Idempotent-Replayed") == "true")
	fmt.Println("the same key gave the same id")

	topics, pages := 0, 0
	given, limit := prefix, 2
	for cursor := (*string)(nil); pages == 0 || cursor != nil; pages++ {
		page, err := client.ListTopicsWithResponse(ctx, &fantail.ListTopicsParams{Prefix: &given, Limit: &limit, Cursor: cursor})
		check(err)
		topics += len(page.JSON200.Topics)
		cursor = page.JSON200.NextCursor
	}
	fmt.Printf("listed %d topics on %d pages\n", topics, pages)

	lost := send("lost", nil, order).JSON404.Error
	other := send("0", &key, one("other", nil)).JSON409.Error
	empty := send("0", nil, one("", nil)).JSON400.Error
	fmt.Printf("refused: %s, %s, %s at %s\n", lost.Code, other.Code, empty.Code, (*empty.Details)[0].Path)
}

func withKey(_ context.Context, request *http.Request) error {
	if key := os.Getenv("FANTAIL_API_KEY"); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return nil
}

func address() string {
	if url := os.Getenv("FANTAIL_URL"); url != "" {
		return url
	}
	return "http://127.0.0.1:4100"
}

func one(content any, attributes *fantail.MessageAttributes) (input fantail.PublishInput) {
	check(input.FromMessageInput(fantail.MessageInput{Message: content, Attributes: attributes}))
	return input
}

func several(contents ...any) (input fantail.PublishInput) {
	var batch fantail.MessageBatchInput
	for _, content := range contents {
		batch.Messages = append(batch.Messages, fantail.MessageInput{Message: content})
	}
	check(input.FromMessageBatchInput(batch))
	return input
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func expect(isTrue bool) {
	if !isTrue {
		log.Panic("the answer is another one")
	}
}
