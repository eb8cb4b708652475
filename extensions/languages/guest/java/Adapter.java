import com.sun.jdi.*;
import com.sun.jdi.connect.*;
import com.sun.jdi.event.*;
import com.sun.jdi.request.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** A debug adapter for Java over its standard streams: the JDK's debug interface, in the Debug Adapter Protocol. */
class Adapter {
    /** Steps go past these. */
    private static final List<String> LIBRARIES = List.of("java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*",
            "org.junit.*", "org.opentest4j.*", "org.assertj.*", "net.bytebuddy.*");
    /** These throw exceptions whenever classes are loaded. */
    private static final List<String> LOADERS = List.of("java.lang.ClassLoader", "java.net.URLClassLoader",
            "jdk.internal.loader.*", "jdk.internal.reflect.*", "java.lang.invoke.*");

    record Place(ThreadReference thread, int depth) {}

    private final OutputStream out = System.out;
    private final BlockingQueue<EventSet> arrived = new LinkedBlockingQueue<>();
    private final Map<String, List<Map<String, Object>>> breakpoints = new ConcurrentHashMap<>();
    private final List<Place> places = new ArrayList<>();
    private Sources sources;
    private Process process;
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private Future<?> reader;
    private VirtualMachine machine;
    private boolean standing;
    /** While a method of the program is called, its events are passed over. */
    private volatile boolean calling;

    public static void main(String[] arguments) throws IOException {
        Adapter adapter = new Adapter();
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        for (int size; (size = Json.readHeader(in)) >= 0; )
            adapter.answer(Json.object(Json.parse(new String(in.readNBytes(size), StandardCharsets.UTF_8))));
        adapter.end(0);
    }

    private void end(int status) {
        if (process != null) process.destroyForcibly();
        System.exit(status);
    }

    private void answer(Map<String, Object> request) {
        String command = (String) request.get("command");
        Map<String, Object> message = new HashMap<>(Map.of("type", "response", "request_seq", request.get("seq")));
        try {
            synchronized (this) {
                message.put("body", carryOut(command, Json.object(request.get("arguments"))));
                message.put("success", true);
                send(message);
            }
            if (command.equals("launch")) sendEvent("initialized", Map.of());
        } catch (Exception error) {
            String text = error instanceof VMDisconnectedException ? "the program has ended" : error.getMessage();
            if (error instanceof IncompatibleThreadStateException) text = "an interrupted program calls no methods";
            text = text == null ? error.toString() : text.replaceAll("(?s)\\s*Was expecting.*", "");
            message.putAll(Map.of("success", false, "message", text));
            send(message);
        }
    }

    private void send(Map<String, Object> message) {
        byte[] body = Json.write(message).getBytes(StandardCharsets.UTF_8);
        try {
            synchronized (out) {
                out.write(("Content-Length: " + body.length + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
                out.write(body);
                out.flush();
            }
        } catch (IOException error) {
            end(1);
        }
    }

    private void sendEvent(String name, Map<String, Object> body) {
        send(Map.of("type", "event", "event", name, "body", body));
    }

    private void sendOutput(String text) {
        sendEvent("output", Map.of("category", "stdout", "output", text));
    }

    private Map<String, Object> carryOut(String command, Map<String, Object> arguments) throws Exception {
        return switch (command) {
            case "initialize" -> Map.of("supportsConditionalBreakpoints", true);
            case "launch" -> launch(arguments);
            case "setBreakpoints" -> setBreakpoints(arguments);
            case "setFunctionBreakpoints" -> Map.of("breakpoints", ((List<?>) arguments.get("breakpoints")).stream()
                    .map(each -> Map.of("verified", false, "message", "no method of the workspace")).toList());
            case "configurationDone", "continue" -> resume();
            case "next" -> step(thread(arguments), StepRequest.STEP_OVER);
            case "stepIn" -> step(thread(arguments), StepRequest.STEP_INTO);
            case "stepOut" -> step(thread(arguments), StepRequest.STEP_OUT);
            case "pause" -> {
                if (!standing) machine.suspend();
                if (!standing) stop("pause", thread(arguments), "");
                yield Map.of();
            }
            case "threads" -> Map.of("threads", machine.allThreads().stream().map(ThreadReference::uniqueID).sorted()
                    .map(id -> Map.of("id", id)).toList());
            case "stackTrace" -> Map.of("stackFrames", stack(thread(arguments), (int) arguments.get("levels")));
            case "scopes" -> Map.of("scopes", List.of(Map.of("variablesReference", arguments.get("frameId"))));
            case "variables" -> Map.of("variables", valuesIn(arguments.get("variablesReference")).locals()
                    .entrySet().stream().map(each -> Map.of("name", each.getKey(), "value", each.getValue())).toList());
            case "evaluate" -> {
                Values values = valuesIn(arguments.get("frameId"));
                yield Map.of("result", values.show(values.evaluate((String) arguments.get("expression"))));
            }
            default -> throw new IllegalArgumentException("the adapter does not know " + command);
        };
    }

    // ---- the program

    private Map<String, Object> launch(Map<String, Object> arguments) throws Exception {
        File folder = new File((String) arguments.get("cwd"));
        sources = new Sources(folder.getPath(), (String) arguments.get("classes"));
        ListeningConnector connector = Bootstrap.virtualMachineManager().listeningConnectors().get(0);
        Map<String, Connector.Argument> options = connector.defaultArguments();
        options.get("localAddress").setValue("127.0.0.1");
        options.get("timeout").setValue("20000");
        String address = connector.startListening(options);
        String agent = "-agentlib:jdwp=transport=dt_socket,suspend=y,address=" + address;
        List<String> command = new ArrayList<>(List.of("java", agent));
        for (Object word : (List<?>) arguments.get("java")) command.add((String) word);
        File none = new File("/dev/null");
        process = new ProcessBuilder(command).directory(folder).redirectErrorStream(true).redirectInput(none).start();
        reader = workers.submit(this::copyOutput);
        machine = connector.accept(options);
        connector.stopListening(options);
        ExceptionRequest exceptions = machine.eventRequestManager().createExceptionRequest(null, true, true);
        LOADERS.forEach(exceptions::addClassExclusionFilter);
        exceptions.enable();
        workers.submit(this::receiveEvents);
        workers.submit(this::handleEvents);
        return Map.of();
    }

    private Object copyOutput() throws IOException {
        Reader output = new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8);
        char[] text = new char[8192];
        for (int size; (size = output.read(text)) >= 0; ) sendOutput(new String(text, 0, size));
        return null;
    }

    private Object receiveEvents() throws InterruptedException {
        try {
            while (true) {
                EventSet events = machine.eventQueue().remove();
                if (!calling) {
                    arrived.add(events);
                    continue;
                }
                for (Event event : events) if (event instanceof ClassPrepareEvent it) install(it.referenceType());
                events.resume();
            }
        } catch (VMDisconnectedException ended) {
            for (int turn = 0; turn < 200 && !reader.isDone(); turn++) Thread.sleep(10);
            sendEvent("exited", Map.of("exitCode", process.waitFor()));
            sendEvent("terminated", Map.of());
            return null;
        }
    }

    private Object handleEvents() throws InterruptedException {
        while (true) {
            EventSet events = arrived.take();
            synchronized (this) {
                while (standing) wait();
                boolean stops = false;
                for (Event event : events) stops = stops || handle(event);
                if (!stops) events.resume();
            }
        }
    }

    /** Returns whether the program stays where it is. */
    private boolean handle(Event event) {
        if (event instanceof VMStartEvent) return true; // until its breakpoints are set
        if (event instanceof ClassPrepareEvent prepared) install(prepared.referenceType());
        if (event instanceof BreakpointEvent reached) return holds(reached) && stop("breakpoint", reached.thread(), "");
        if (event instanceof ExceptionEvent raised && leavesProgram(raised)) {
            Value text = valuesIn(new Place(raised.thread(), 0)).call(raised.exception(), "toString");
            return stop("exception", raised.thread(), text instanceof StringReference it ? it.value() : "an exception");
        }
        if (event instanceof StepEvent step) {
            if (sources.pathOf(step.location().declaringType()) != null) return stop("step", step.thread(), "");
            requestStep(step.thread(), StepRequest.STEP_OUT);
        }
        return false;
    }

    private boolean stop(String reason, ThreadReference thread, String text) {
        standing = true;
        String beginning = text.length() > 500 ? text.substring(0, 500) + "..." : text;
        sendEvent("stopped", Map.of("reason", reason, "threadId", thread.uniqueID(), "text", beginning));
        return true;
    }

    /** Returns whether the workspace throws an exception, or lets one through, that nothing in it waits for. */
    private boolean leavesProgram(ExceptionEvent event) {
        try {
            Location handler = event.catchLocation();
            boolean passes = false, caught = false;
            for (StackFrame frame : event.thread().frames()) {
                boolean isOwn = sources.pathOf(frame.location().declaringType()) != null;
                caught = caught || handler != null && handler.method().equals(frame.location().method());
                if (caught && isOwn) return false; // or a library catches it for its caller
                passes = passes || isOwn;
            }
            return passes || handler == null;
        } catch (IncompatibleThreadStateException error) {
            return false;
        }
    }

    private boolean holds(BreakpointEvent event) {
        String condition = (String) event.request().getProperty("condition");
        if (condition == null) return true;
        try {
            Value value = valuesIn(new Place(event.thread(), 0)).evaluate(condition);
            return !(value instanceof BooleanValue is) || is.value();
        } catch (Exception error) {
            sendOutput("*** The condition " + condition + " cannot be read: " + error.getMessage() + "\n");
            return true;
        }
    }

    // ---- control

    private Map<String, Object> resume() {
        standing = false;
        places.clear();
        machine.resume();
        notifyAll();
        return Map.of();
    }

    private Map<String, Object> step(ThreadReference thread, int depth) {
        requestStep(thread, depth);
        return resume();
    }

    private void requestStep(ThreadReference thread, int depth) {
        EventRequestManager requests = machine.eventRequestManager();
        requests.deleteEventRequests(new ArrayList<>(requests.stepRequests()));
        StepRequest request = requests.createStepRequest(thread, StepRequest.STEP_LINE, depth);
        LIBRARIES.forEach(request::addClassExclusionFilter);
        request.enable();
    }

    private Map<String, Object> setBreakpoints(Map<String, Object> arguments) {
        String file = (String) Json.object(arguments.get("source")).get("path");
        EventRequestManager requests = machine.eventRequestManager();
        List<EventRequest> old = new ArrayList<>(requests.breakpointRequests());
        old.addAll(requests.classPrepareRequests());
        old.removeIf(request -> !file.equals(request.getProperty("file")));
        requests.deleteEventRequests(old);
        List<Map<String, Object>> wanted = new ArrayList<>(), answers = new ArrayList<>();
        for (Object each : (List<?>) arguments.get("breakpoints")) {
            Map<String, Object> row = Json.object(each);
            Integer line = sources.linesOf(file).ceiling((int) row.get("line"));
            row.put("line", line);
            row.put("verified", line != null);
            row.put("message", "no code is there");
            answers.add(row);
            if (line != null) wanted.add(row);
        }
        breakpoints.put(file, wanted);
        for (String name : sources.classesIn(file)) {
            ClassPrepareRequest request = requests.createClassPrepareRequest();
            request.addClassFilter(name);
            request.putProperty("file", file);
            request.enable();
            machine.classesByName(name).forEach(this::install);
        }
        return Map.of("breakpoints", answers);
    }

    /** Set the breakpoints of a class that has been loaded. */
    private void install(ReferenceType type) {
        String file = sources.pathOf(type);
        for (Map<String, Object> row : breakpoints.getOrDefault(file, List.of())) {
            try {
                List<Location> locations = type.locationsOfLine((int) row.get("line"));
                if (locations.isEmpty()) continue;
                BreakpointRequest request = machine.eventRequestManager().createBreakpointRequest(locations.get(0));
                request.putProperty("file", file);
                request.putProperty("condition", row.get("condition"));
                request.enable();
            } catch (AbsentInformationException | ClassNotPreparedException error) {
                return;
            }
        }
    }

    // ---- looking

    private ThreadReference thread(Map<String, Object> arguments) {
        int number = (int) arguments.get("threadId");
        return machine.allThreads().stream().filter(each -> each.uniqueID() == number).findFirst().orElseThrow();
    }

    private List<Object> stack(ThreadReference thread, int levels) throws IncompatibleThreadStateException {
        List<Object> rows = new ArrayList<>();
        for (int depth = 0; depth < Math.min(thread.frameCount(), levels); depth++) {
            Location location = thread.frame(depth).location();
            String type = location.declaringType().name(), path = sources.pathOf(location.declaringType());
            if (path == null) path = type.replaceAll("\\$.*", "").replace('.', '/') + ".java";
            places.add(new Place(thread, depth));
            rows.add(Map.of("id", places.size(), "name", type.replaceAll(".*\\.", "") + "." + location.method().name(),
                    "line", Math.max(location.lineNumber(), 0), "source", Map.of("path", path)));
        }
        return rows;
    }

    /** `place`: the id of a frame, or a place itself. */
    private Values valuesIn(Object place) {
        Place at = place instanceof Place it ? it : places.get((int) place - 1);
        return new Values(at.thread, at.depth, busy -> calling = busy);
    }
}
