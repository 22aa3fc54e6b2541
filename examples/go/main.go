// Publishes to a topic of Fantail and receives the message as a signed webhook, with the standard library alone.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	topic := "/v1/topics/orders"
	call("PUT", topic, map[string]any{}, nil)

	var subscription struct{ ID string }
	call("POST", topic+"/subscriptions", map[string]any{"endpoint": "http://" + listener.Addr().String()}, &subscription)
	var key struct{ Secret string }
	call("POST", "/v1/subscriptions/"+subscription.ID+"/webhook-keys", map[string]any{}, &key)

	received := make(chan string)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = verify(r.Header, body, key.Secret)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		var envelope struct{ Message string }
		check(json.Unmarshal(body, &envelope))
		received <- envelope.Message
	}))

	call("POST", topic+"/messages", map[string]any{"message": map[string]any{"order": 7}}, nil)
	fmt.Println("received", <-received)
	call("DELETE", "/v1/subscriptions/"+subscription.ID, nil, nil)
}

// verify checks a signature of Standard Webhooks: HMAC-SHA256 over "id.timestamp.body".
func verify(headers http.Header, body []byte, secret string) error {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(time.Since(time.Unix(seconds, 0)).Seconds()) > tolerance.Seconds() {
		return errors.New("the time of the signature is wrong")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// While a key is replaced, there are several signatures.
	for _, signature := range strings.Fields(headers.Get("webhook-signature")) {
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(given, expected) {
			return nil
		}
	}
	return errors.New("no signature is right")
}

// call sends a request to the API. It ends the program if the API refuses it.
func call(method, path string, input, output any) {
	var body io.Reader
	if input != nil {
		text, err := json.Marshal(input)
		check(err)
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, address()+path, body)
	check(err)
	request.Header.Set("Content-Type", "application/json")
	if key := os.Getenv("FANTAIL_API_KEY"); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode >= 300 {
		log.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if output != nil {
		check(json.Unmarshal(text, output))
	}
}

func address() string {
	if url := os.Getenv("FANTAIL_URL"); url != "" {
		return url
	}
	return "http://127.0.0.1:4100"
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
